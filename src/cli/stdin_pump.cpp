#include "cli/stdin_pump.hpp"

#include "cli/standard_stream.hpp"
#include "cli/subcommand.hpp"

#include <berth/error.hpp>

#include <fmt/format.h>
#include <unistd.h>
#include <asio/this_coro.hpp>

#include <csignal>
#include <string>
#include <system_error>
#include <utility>

namespace berth::cli {
namespace {

/// The next bytes, or none where there is no more to be had.
task<std::string> read_input(standard_stream& input, std::string subcommand) {
  try {
    co_return co_await input.read();
  } catch (const std::system_error& failure) {
    if (is_cancelled(failure.code())) throw;
    print_error(subcommand, fmt::format("standard input: {}", failure.code().message()));
  }
  co_return std::string();
}

/// Says whether the command will take more.
task<bool> feed(process& command, std::string bytes) {
  try {
    co_await command.write(std::move(bytes));
  } catch (const std::system_error& failure) {
    if (is_cancelled(failure.code())) throw;
    co_return false;  // it closed its end, or ended; how it ended is told by its status
  }
  co_return true;
}

}  // namespace

task<bool> copy_stdin(process& command, std::string subcommand) {
  const auto executor = co_await asio::this_coro::executor;
  standard_stream input(executor, STDIN_FILENO, standard_stream::direction::in);
  for (;;) {
    auto bytes = co_await read_input(input, subcommand);
    if (bytes.empty()) co_return true;
    const bool wants_more = co_await feed(command, std::move(bytes));
    if (!wants_more) co_return false;
  }
}

task<void> pump_stdin(process& command) {
  // So a terminal answers EIO while we are in the background, instead of stopping us.
  std::signal(SIGTTIN, SIG_IGN);
  const bool has_ended = co_await copy_stdin(command, "exec");
  if (has_ended) co_await command.close_stdin();
}

}  // namespace berth::cli
