#include "docker/container_exec.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"
#include "core/text.hpp"
#include "docker/attach_frames.hpp"
#include "docker/exec_words.hpp"

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

namespace berth {
namespace {

constexpr std::size_t buffer_size = std::size_t{64} << 10;
constexpr std::size_t most_kept = std::size_t{64} << 10;
constexpr std::chrono::milliseconds between_looks{20};
constexpr int looks_for_end = 250;

json_array texts(const std::vector<std::string>& all) {
  json_array made;
  for (const std::string& each : all) made.emplace_back(each);
  return made;
}

json body_of(const exec_request& what, const docker_engine& engine) {
  constexpr api_version knows_size{1, 42};
  json_object body;
  body.set("AttachStdin", what.input);
  body.set("AttachStdout", true);
  body.set("AttachStderr", true);
  body.set("Tty", what.terminal.has_value());
  body.set("Cmd", texts(what.words));
  // Else what is typed could detach; nobody types this.
  if (what.terminal) body.set("DetachKeys", "ctrl-@,ctrl-g,ctrl-[,ctrl-_,ctrl-@,ctrl-g");
  if (!what.env.empty()) body.set("Env", texts(what.env));
  if (!what.cwd.empty()) body.set("WorkingDir", what.cwd);
  if (!what.user.empty()) body.set("User", what.user);
  if (what.terminal && engine.version() >= knows_size) {
    json_array size;
    size.emplace_back(what.terminal->rows());
    size.emplace_back(what.terminal->columns());
    body.set("ConsoleSize", std::move(size));
  }
  return body;
}

/// One that ends before it has read all closes the connection: how it ended is asked of the daemon.
task<void> feed(http::stream_ptr stream, std::string input) {
  try {
    co_await stream->write(std::move(input));
    co_await stream->shutdown_write();
  } catch (const std::system_error& failure) {
    if (is_cancelled(failure.code())) throw;
  }
}

task<std::size_t> read_or_end(http::stream_ptr stream, std::span<char> into) {
  try {
    co_return co_await stream->read(into);
  } catch (const std::system_error& failure) {
    if (is_cancelled(failure.code())) throw;
  }
  co_return 0;
}

void keep(std::string& into, std::string_view bytes) {
  into.append(bytes.substr(0, most_kept - std::min(most_kept, into.size())));
}

/// What is read of one command.
struct exec_reader {
  http::stream_ptr stream;
  attach_frames frames = {};
  std::string buffer = std::string(buffer_size, '\0');
  exec_outcome outcome = {};
};

/// False at the end.
task<bool> read_some(std::shared_ptr<exec_reader> self) {
  const std::size_t size = co_await read_or_end(self->stream, self->buffer);
  auto bytes = std::string_view(self->buffer).substr(0, size);
  while (const auto piece = self->frames.next(bytes))
    keep(piece->from == attach_frames::stream::err ? self->outcome.err : self->outcome.out, piece->bytes);
  co_return size > 0;
}

/// Nothing: it said nothing in this time.
task<std::optional<bool>> read_soon(std::shared_ptr<exec_reader> self) {
  try {
    auto reading = read_some(self);
    auto bounded = with_deadline(std::move(reading), between_looks);
    co_return co_await std::move(bounded);
  } catch (const error& failure) {
    if (failure.code() != errc::timeout) throw;
  }
  co_return std::nullopt;
}

/// Waits for it to say so. False where it never does: while its input is open the daemon does not end the stream of what could not be
/// started.
task<bool> is_ready(std::shared_ptr<exec_reader> self, container_exec one, std::string cue) {
  while (self->outcome.out.find(cue) == std::string::npos) {
    const std::optional<bool> more = co_await read_soon(self);
    if (more == false) co_return false;
    if (more) continue;
    const std::optional<exec_state> state = co_await one.state();
    if (!state || state->code) co_return false;
  }
  co_return true;
}

task<void> talk(std::shared_ptr<exec_reader> self, container_exec one, exec_input input) {
  if (!input.bytes.empty()) {
    const bool ready = co_await is_ready(self, one, std::move(input.cue));
    if (!ready) co_return self->stream->close();
    co_await feed(self->stream, std::move(input.bytes));
  }
  bool more = true;
  while (more) more = co_await read_some(self);
  self->stream->close();
}

}  // namespace

task<container_exec> container_exec::create(container box, exec_request what) {
  if (!std::all_of(what.words.begin(), what.words.end(), is_utf8))
    throw error(make_error_code(errc::unsupported), "docker: words of a command that are not UTF-8");
  const bool terminal = what.terminal.has_value();
  json body = body_of(what, *box.engine());
  auto making = box.engine()->ask("POST", "/containers/" + http::percent_encode(box.id()) + "/exec", std::move(body));
  const json made = co_await std::move(making);
  co_return container_exec(std::move(box), made.at("Id").as_string(), terminal);
}

task<http::stream_ptr> container_exec::start() const {
  json_object body;
  body.set("Detach", false);
  body.set("Tty", terminal_);
  return box_.engine()->hijack("/exec/" + http::percent_encode(id_) + "/start", std::move(body));
}

task<std::optional<exec_state>> container_exec::state_of(container_exec self) {
  const engine_reply reply =
      co_await self.box_.engine()->try_ask("GET", "/exec/" + http::percent_encode(self.id_) + "/json");
  if (reply.status() == 404) co_return std::nullopt;
  if (!reply.is_success()) throw engine_failure("inspect of a command", reply.status(), reply.message());
  exec_state found;
  found.running = reply.body()["Running"].if_bool().value_or(false);
  if (const auto code = reply.body()["ExitCode"].if_int(); code && !found.running) found.code = static_cast<int>(*code);
  found.pid = reply.body()["Pid"].if_int().value_or(0);
  co_return found;
}

task<std::optional<exec_state>> container_exec::state() const { return state_of(*this); }

task<void> container_exec::resize_one(container_exec self, terminal_size size) {
  http::query_builder query;
  query.add("h", std::to_string(size.rows())).add("w", std::to_string(size.columns()));
  const std::string path = "/exec/" + http::percent_encode(self.id_) + "/resize";
  (void)co_await self.box_.engine()->try_ask("POST", query.behind(path));  // one that has ended has no size
}

task<void> container_exec::resize(terminal_size size) const { return resize_one(*this, size); }

task<exec_outcome> run_in_container(container box, exec_request what, exec_input input) {
  what.input = !input.bytes.empty();
  const bool is_podman = box.engine()->is_podman();
  auto creating = container_exec::create(std::move(box), std::move(what));
  const container_exec one = co_await std::move(creating);
  const auto reader = std::make_shared<exec_reader>();
  reader->stream = co_await one.start();
  co_await talk(reader, one, std::move(input));
  exec_outcome outcome = std::move(reader->outcome);
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (int i = 0; i < looks_for_end; ++i) {
    const std::optional<exec_state> state = co_await one.state();
    if (!state) break;
    if (state->code) {
      outcome.code = *state->code;
      // Podman forgets the pid of what has ended.
      outcome.started = state->pid != 0 || (is_podman && !looks_refused(outcome.code, outcome.out + outcome.err));
      co_return outcome;
    }
    timer.expires_after(between_looks);
    co_await timer.async_wait(asio::use_awaitable);
  }
  throw error(make_error_code(errc::lost), "docker: what became of a command in the container is not known");
}

}  // namespace berth
