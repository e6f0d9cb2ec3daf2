#include <berth/context.hpp>

#include "context/exec.hpp"
#include "context/file_access.hpp"
#include "context/kept_commands.hpp"
#include "context/terminal_command.hpp"
#include "core/blocking.hpp"

#include <berth/error.hpp>

#include <fmt/format.h>

#include <exception>
#include <map>
#include <random>
#include <string>
#include <utility>

namespace berth {

class context::state {
 public:
  state(asio::any_io_executor on, std::shared_ptr<context_backend> what)
      : executor(std::move(on)), backend(std::move(what)) {}

  static task<handle> spawn(std::shared_ptr<state> self, spawn_options options);
  static task<void> destroy(std::shared_ptr<state> self, handle at);
  static task<exec_result> exec(std::shared_ptr<state> self, handle at, command what);
  static task<process> exec_stream(std::shared_ptr<state> self, handle at, command what);
  static task<std::shared_ptr<kept_command>> keep(std::shared_ptr<state> self, handle at, command what,
                                                  kept_commands::wish wanted);
  static task<background> exec_background(std::shared_ptr<state> self, handle at, command what);
  static task<terminal> open_terminal(std::shared_ptr<state> self, handle at, terminal_options options);

  std::vector<handle> handles() const;
  std::vector<std::shared_ptr<kept_command>> kept(const handle& at, kept_kind kind) {
    return find(at)->second.kept->list(kind);
  }
  file_access files_of(const handle& at);

  const asio::any_io_executor executor;
  const std::shared_ptr<context_backend> backend;

 private:
  class reservation;
  struct entry {
    handle name;
    std::shared_ptr<backend_place> place;  // null while it is being made
    resource_limits limits;
    std::shared_ptr<kept_commands> kept;
  };
  using entries = std::map<std::string, entry>;

  entries::iterator find(const handle& at);
  entries::iterator reserve();
  void require(bool met, std::string_view what) const;
  exec_place prepare(const handle& at, command& what);

  entries entries_;
  const std::shared_ptr<blocking_pool> pool_ = std::make_shared<blocking_pool>();
};

/// Takes the id of a place that did not come to be out of the list again.
class context::state::reservation {
 public:
  reservation(std::weak_ptr<state> of, std::string id) : of_(std::move(of)), id_(std::move(id)) {}
  reservation(const reservation&) = delete;
  reservation& operator=(const reservation&) = delete;
  ~reservation() {
    const auto self = of_.lock();
    if (!self) return;
    const auto found = self->entries_.find(id_);
    if (found != self->entries_.end() && !found->second.place) self->entries_.erase(found);
  }

 private:
  std::weak_ptr<state> of_;
  std::string id_;
};

context::state::entries::iterator context::state::find(const handle& at) {
  const auto found = entries_.find(at.id());
  if (found == entries_.end() || !found->second.place) {
    throw error(errc::destroyed, "handle '" + at.id() + "' was destroyed, or is not of this context");
  }
  return found;
}

context::state::entries::iterator context::state::reserve() {
  constexpr unsigned six_digits = 0xFFFFFF;
  std::random_device random;
  for (;;) {
    auto id = fmt::format("{}-{:06x}", backend->type(), static_cast<unsigned>(random()) & six_digits);
    const auto [place, is_new] = entries_.try_emplace(std::move(id));
    if (is_new) return place;
  }
}

void context::state::require(bool met, std::string_view what) const {
  if (!met) throw error(errc::unsupported, fmt::format("{}: it has no {}", backend->type(), what));
}

exec_place context::state::prepare(const handle& at, command& what) {
  const auto& found = find(at)->second;
  what.validate();
  const bool streams = backend->can().stdin_stream;
  require(what.input_from() != input_kind::stream || streams,
          "a standard input that is written while the command runs");
  what.limits(what.limits().over(found.limits));
  require(what.limits().empty() || backend->can().limits, "limits");
  require(!what.terminal() || backend->can().terminals, "terminals");
  const std::string& home = found.name.cwd();
  if (what.cwd().empty()) {
    what.cwd(home);
  } else if (what.cwd().front() != '/') {
    what.cwd(home + (home.ends_with('/') ? "" : "/") + what.cwd());
  }
  return {executor, found.place, pool_, streams};
}

file_access context::state::files_of(const handle& at) {
  const entry& found = find(at)->second;
  if (found.place->files() == nullptr)
    throw error(make_error_code(errc::unsupported), std::string(backend->type()) + ": its places have no files");
  return {found.place, found.name.cwd(), pool_, backend->can().watches_files, nullptr};
}

std::vector<handle> context::state::handles() const {
  std::vector<handle> list;
  for (const auto& [id, each] : entries_) {
    if (each.place) list.push_back(each.name);
  }
  return list;
}

// The coroutines let go of the state before they wait: a context that goes meanwhile takes its places along.

task<handle> context::state::spawn(std::shared_ptr<state> self, spawn_options options) {
  const auto id = self->reserve()->first;
  const std::weak_ptr<state> weak = self;
  const reservation kept(weak, id);
  const auto backend = self->backend;
  const resource_limits limits = options.limits();
  limits.validate();
  self->require(limits.empty() || backend->can().limits, "limits");
  self.reset();
  spawned_place made = co_await backend->spawn(id, std::move(options));
  self = weak.lock();
  if (!self) throw error(errc::destroyed, "the context went while a place was being made");
  entry& found = self->entries_[id];
  found.name = handle(id, std::string(backend->type()), std::move(made.cwd));
  found.place = std::move(made.place);
  found.limits = limits;
  found.kept = std::make_shared<kept_commands>(self->executor);
  co_return found.name;
}

task<void> context::state::destroy(std::shared_ptr<state> self, handle at) {
  const auto found = self->find(at);
  const auto place = std::move(found->second.place);
  const auto kept = std::move(found->second.kept);
  self->entries_.erase(found);
  self.reset();
  kept->close();
  co_await place->destroy();
  co_await kept_commands::join(kept);
}

task<exec_result> context::state::exec(std::shared_ptr<state> self, handle at, command what) {
  if (what.input_from() == input_kind::stream) {
    throw error(errc::invalid_argument, "command: input_stream is not for exec");
  }
  auto where = self->prepare(at, what);
  self.reset();
  co_return co_await run_command(std::move(where), std::move(what));
}

task<process> context::state::exec_stream(std::shared_ptr<state> self, handle at, command what) {
  auto where = self->prepare(at, what);
  self.reset();
  co_return co_await start_command(std::move(where), std::move(what));
}

task<std::shared_ptr<kept_command>> context::state::keep(std::shared_ptr<state> self, handle at, command what,
                                                         kept_commands::wish wanted) {
  auto where = self->prepare(at, what);
  const std::weak_ptr<kept_commands> kept = self->find(at)->second.kept;
  self.reset();
  co_return co_await kept_commands::start(kept, std::move(where), std::move(what), std::move(wanted));
}

task<background> context::state::exec_background(std::shared_ptr<state> self, handle at, command what) {
  what.background(true);
  kept_commands::wish wanted;
  auto one = co_await keep(std::move(self), std::move(at), std::move(what), std::move(wanted));
  co_return background(std::move(one));
}

task<terminal> context::state::open_terminal(std::shared_ptr<state> self, handle at, terminal_options options) {
  command what = terminal_command(options);
  kept_commands::wish wanted;
  wanted.kind = kept_kind::terminal;
  wanted.on_data = options.on_data();
  auto one = co_await keep(std::move(self), std::move(at), std::move(what), std::move(wanted));
  co_return terminal(std::move(one));
}

context::context(asio::any_io_executor executor, std::shared_ptr<context_backend> backend)
    : state_(std::make_shared<state>(std::move(executor), std::move(backend))) {}

std::string_view context::type() const noexcept { return state_->backend->type(); }
capabilities context::can() const noexcept { return state_->backend->can(); }
asio::any_io_executor context::get_executor() const { return state_->executor; }
std::vector<handle> context::handles() const { return state_->handles(); }

file_access context::files_of(const handle& place) const {
  try {
    return state_->files_of(place);
  } catch (const error&) {
    file_access none;
    none.failure = std::current_exception();
    return none;
  }
}

task<handle> context::spawn() & { return state::spawn(state_, spawn_options()); }
task<handle> context::spawn(spawn_options options) & { return state::spawn(state_, std::move(options)); }
task<void> context::destroy(handle place) & { return state::destroy(state_, std::move(place)); }

task<exec_result> context::exec(handle place, command what) & {
  return state::exec(state_, std::move(place), std::move(what));
}

task<process> context::exec_stream(handle place, command what) & {
  return state::exec_stream(state_, std::move(place), std::move(what));
}

task<background> context::exec_background(handle place, command what) & {
  return state::exec_background(state_, std::move(place), std::move(what));
}

std::vector<background> context::backgrounds(const handle& place) const {
  std::vector<background> all;
  for (auto& each : state_->kept(place, kept_kind::background)) all.emplace_back(std::move(each));
  return all;
}

task<terminal> context::open_terminal(handle place) & {
  return state::open_terminal(state_, std::move(place), terminal_options());
}

task<terminal> context::open_terminal(handle place, terminal_options options) & {
  return state::open_terminal(state_, std::move(place), std::move(options));
}

std::vector<terminal> context::terminals(const handle& place) const {
  std::vector<terminal> all;
  for (auto& each : state_->kept(place, kept_kind::terminal)) all.emplace_back(std::move(each));
  return all;
}

}  // namespace berth
