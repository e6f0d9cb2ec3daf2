#include "context/exec.hpp"

#include "context/output_window.hpp"
#include "context/process_core.hpp"
#include "context/spill_file.hpp"
#include "core/deadline.hpp"

#include <berth/error.hpp>

#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <csignal>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

namespace berth {
namespace {

using clock = std::chrono::steady_clock;

/// One stream on its way into the result.
struct collected_stream {
  explicit collected_stream(const command& what) : window(what.output_limit(), what.output_split()) {}

  output_window window;
  std::string hint;
  std::shared_ptr<spill_file> spill;
};

struct collected {
  explicit collected(const command& what) : out(what), err(what) {}

  collected_stream& of(output_stream stream) { return stream == output_stream::std_out ? out : err; }

  collected_stream out;
  collected_stream err;
};

task<void> open_spills(std::shared_ptr<collected> output, std::shared_ptr<blocking_pool> pool, std::string path,
                       bool merged) {
  output->out.spill = co_await spill_file::open(pool, path);
  if (!merged) output->err.spill = co_await spill_file::open(pool, path + ".stderr");
}

task<void> close_spills(std::shared_ptr<collected> output) {
  if (output->out.spill) co_await output->out.spill->close();
  if (output->err.spill) co_await output->err.spill->close();
}

/// May be cancelled, and called again to go on.
task<void> read_all(std::shared_ptr<process_core> core, std::shared_ptr<collected> output) {
  for (;;) {
    const auto piece = co_await process_core::next(core);
    if (!piece) break;
    auto& stream = output->of(piece->stream());
    if (piece->is_hint()) {
      stream.hint = piece->bytes();
      continue;
    }
    stream.window.append(piece->bytes());
    if (!stream.spill) continue;
    const bool due = stream.spill->add(piece->bytes());
    if (due) co_await stream.spill->flush();
  }
  co_await close_spills(output);
}

/// In place of a process that never came to be.
class ended_process final : public backend_process {
 public:
  explicit ended_process(exit_status status) : status_(std::move(status)) {}

  std::int64_t pid() const noexcept override { return 0; }
  bool has_exited() const noexcept override { return true; }
  bool is_over() const noexcept override { return true; }
  task<process_event> next(time_point) override {
    process_event event = streams_ended();
    if (!std::exchange(told_, true)) {
      event = process_exited{status_, {}};
    } else if (std::exchange(tree_due_, false)) {
      event = tree_ended();
    }
    return give(std::move(event));
  }
  task<void> write(std::string) override { throw error(std::make_error_code(std::errc::broken_pipe), "it never ran"); }
  void close_stdin() override {}
  void signal(int) override {}
  void kill(std::chrono::milliseconds) override { tree_due_ = true; }
  void abandon_streams() override {}

 private:
  static task<process_event> give(process_event event) { co_return event; }

  exit_status status_;
  bool told_ = false;
  bool tree_due_ = true;  // end_leftovers waits for it without a kill
};

/// Counts a start that hangs, as on a dead network disk, into the command's timeout.
task<std::unique_ptr<backend_process>> start_in_time(std::shared_ptr<backend_place> place, command what) {
  constexpr std::chrono::milliseconds for_ever = std::chrono::hours(24 * 36500);
  if (!what.timeout()) co_return co_await place->start(std::move(what));
  const auto limit = std::min(*what.timeout(), for_ever);
  auto start = place->start(std::move(what));
  try {
    co_return co_await with_deadline(std::move(start), limit);
  } catch (const error& caught) {
    if (caught.code() != errc::timeout) throw;
  }
  exit_status status(end_reason::timed_out, 124, 0, "before it ran");
  co_return std::make_unique<ended_process>(std::move(status));
}

/// What a start that threw comes to; throws again what is no result.
exit_status status_of_failure(const std::exception_ptr& failure, bool cancelled) {
  try {
    std::rethrow_exception(failure);
  } catch (const error& caught) {
    if (caught.code() != errc::lost) throw;
    return exit_status::lost(caught.message());
  } catch (const std::system_error& caught) {
    if (!cancelled || !is_cancelled(caught.code())) throw;
    return {end_reason::cancelled, 128 + SIGTERM, 0, "before it ran"};
  }
}

void fill_stream(collected_stream& stream, exec_result& result, bool is_out) {
  (is_out ? result.out : result.err) = stream.window.totals();
  (is_out ? result.std_out : result.std_err) = stream.window.take() + stream.hint;
  if (!stream.spill) return;
  const auto& failure = stream.spill->failure();
  if (failure.empty()) {
    (is_out ? result.out_file : result.err_file) = stream.spill->path();
  } else if (result.spill_error.empty()) {
    result.spill_error = failure;
  }
}

exec_result result_of(exit_status status, collected& output) {
  exec_result result;
  result.status = std::move(status);
  fill_stream(output.out, result, true);
  fill_stream(output.err, result, false);
  return result;
}

exec_result result_of(const process_core& core, collected& output, clock::time_point began) {
  exec_result result = result_of(*core.status(), output);
  const run_state& state = core.state();
  result.wall_time = std::chrono::duration_cast<std::chrono::microseconds>(state.exited_at() - began);
  result.usage = state.usage();
  result.streams_open = state.streams_open();
  result.survivors = state.survivors();
  result.denied = core.denied();
  return result;
}

/// Longer than an end can take, for a backend that breaks its word.
clock::duration longest_end(const command& what) {
  const std::chrono::milliseconds most = std::chrono::hours(24);
  return std::min(what.grace(), most) + 2 * run_state::patience;
}

/// Reads to the end; a cancellation of the caller ends the command, not the reading. Begins with cancellation held: one that came
/// while the command was started must be seen here, and one that comes while there is always a byte to read.
task<void> read_to_the_end(std::shared_ptr<process_core> core, std::shared_ptr<collected> output,
                           clock::duration bound) {
  co_await asio::this_coro::throw_if_cancelled(true);
  std::exception_ptr failure;
  try {
    co_await read_all(core, output);
    co_return;
  } catch (const std::system_error& caught) {
    if (!is_cancelled(caught.code())) throw;
    failure = std::current_exception();
  }
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  if (cancellation.cancelled() == asio::cancellation_type::none) std::rethrow_exception(failure);
  core->cancel();
  co_await hold_cancellation();
  co_await shielded(bound, read_all(core, output));
}

}  // namespace

task<std::shared_ptr<process_core>> start_process(exec_place where, command what) {
  const auto began = clock::now();
  std::optional<std::string> input;
  if (where.feeds_input && what.input_from() == input_kind::bytes) input = what.take_input();
  const command rules = what;
  auto started = co_await start_in_time(std::move(where.place), std::move(what));
  // A caller that tries again and again must not keep all others from running.
  if (started->is_over()) co_await asio::post(where.executor, asio::use_awaitable);
  co_return process_core::make(std::move(where.executor), std::move(started), rules, began, std::move(input));
}

task<process> start_command(exec_place where, command what) {
  auto core = co_await start_process(std::move(where), std::move(what));
  co_await process_core::settle(core);
  co_return process(std::move(core));
}

task<exec_result> run_command(exec_place where, command what) {
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  const auto output = std::make_shared<collected>(what);
  const auto bound = longest_end(what);
  const auto began = clock::now();
  std::shared_ptr<process_core> core;
  std::exception_ptr failure;
  try {
    if (!what.spill().empty()) co_await open_spills(output, where.pool, what.spill(), what.merges_stderr());
    core = co_await start_process(std::move(where), std::move(what));
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    const bool cancelled = cancellation.cancelled() != asio::cancellation_type::none;
    co_return result_of(status_of_failure(failure, cancelled), *output);
  }
  const process running(core);
  co_await hold_cancellation();
  co_await read_to_the_end(core, output, bound);
  co_await asio::this_coro::throw_if_cancelled(throws);
  co_return result_of(*core, *output, began);
}

}  // namespace berth
