#include "cli/file_run.hpp"

#include "cli/arguments.hpp"
#include "cli/container_options.hpp"
#include "cli/container_place.hpp"
#include "cli/orderly_end.hpp"
#include "core/compat.hpp"

#include <berth/error.hpp>
#include <berth/process_context.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <asio/use_awaitable.hpp>

#include <csignal>
#include <exception>
#include <system_error>
#include <utility>

namespace berth::cli {
namespace {

/// Our own output could not be written.
class output_failure : public std::exception {
 public:
  explicit output_failure(std::error_code code) : code_(code) {}
  const std::error_code& code() const noexcept { return code_; }

 private:
  std::error_code code_;
};

context place_for(asio::io_context& io, std::string_view word, const file_place& where,
                  std::shared_ptr<pull_display> pulls) {
  if (!where.container) return make_process_context(io);
  return make_container_context(io, *where.container, word, std::move(pulls));
}

task<void> do_job(std::shared_ptr<file_run> run, file_job job) {
  const end_of_work at_end{*run};
  spawn_options at;
  at.cwd(run->cwd);
  auto where = co_await run->place.spawn(std::move(at));
  run->where = std::move(where);
  run->pulls->finish();
  auto work = job(run);
  co_await std::move(work);
}

task<void> wait_for_signal(std::shared_ptr<file_run> run) {
  constexpr auto token = as_tuple(asio::use_awaitable);
  while (!run->finished) {
    const auto result = co_await run->signals.async_wait(token);
    if (std::get<0>(result)) continue;
    run->signal = std::get<1>(result);
    run->signals.clear();  // a second one does what it always does
    run->group.cancel();
    co_return;
  }
}

/// The exit code, with a line of what it does not tell.
int code_of(const file_run& run, const std::exception_ptr& failure) {
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const output_failure& broken) {
    if (broken.code() == std::errc::broken_pipe) return exit_broken_pipe;
    print_error(run.word, fmt::format("output: {}", broken.code().message()));
    return exit_own_failure;
  } catch (const std::exception& thrown) {
    print_error(run.word, thrown.what());
    return exit_own_failure;
  }
  if (run.signal != 0) return ends_by_signal + run.signal;
  return run.has_failed ? exit_file_failure : 0;
}

}  // namespace

file_run::file_run(asio::io_context& io, std::string_view name, file_place place_of,
                   std::shared_ptr<pull_display> display)
    : place_run(io, place_for(io, name, place_of, display)),
      word(name),
      cwd(std::move(place_of.cwd)),
      pulls(std::move(display)) {}

task<int> run_in_place(asio::io_context& io, std::string_view word, file_place where, file_job job) {
  const auto run = std::make_shared<file_run>(io, word, std::move(where), std::make_shared<pull_display>(word));
  listen_for(run->signals, {SIGINT, SIGTERM, SIGHUP, SIGQUIT});
  auto working = run_beside(run, do_job(run, std::move(job)), wait_for_signal(run));
  const auto failure = co_await failure_of(std::move(working));
  run->pulls->hide();
  const int code = code_of(*run, failure);
  const auto ending = co_await failure_of(end_place(run->place, run->where));
  if (ending) print_error(word, message_of(ending));  // what was asked for is done, and stands
  co_return code;
}

task<void> attempt(std::shared_ptr<file_run> run, task<void> work) {
  try {
    co_await std::move(work);
  } catch (const std::system_error& failure) {
    if (is_cancelled(failure.code())) throw;
    run->has_failed = true;
    print_error(run->word, failure.what());
  }
}

task<void> put(std::shared_ptr<file_run> run, std::string bytes) {
  try {
    co_await run->out.write(std::move(bytes));
  } catch (const std::system_error& failure) {
    if (is_cancelled(failure.code())) throw;
    throw output_failure(failure.code());
  }
}

file_words parse_file_words(CLI::App& app, const words& arguments, std::size_t fewest) {
  app.set_help_flag("");
  add_value(app, "--cwd");
  app.add_flag("-h,--help");
  declare_container_options(app);
  auto sorted = sort_words(app, arguments);
  parse_options(app, std::move(sorted.options));
  file_words given;
  given.help = app.count("--help") > 0;
  if (given.help) return given;
  given.paths = std::move(sorted.command);
  if (given.paths.size() < fewest) {
    throw usage_error(fmt::format("{} given; 'berth help {}' shows how",
                                  given.paths.empty() ? "no path" : "a path is missing: only one", app.get_name()));
  }
  given.place.container = container_of(app);
  if (!given.place.container) given.place.cwd = directory_of(app);
  return given;
}

}  // namespace berth::cli
