#pragma once
/// What main.cpp knows of a subcommand, and what all of them share: exit codes, help, lines on standard error.

#include <berth/task.hpp>

#include <unistd.h>
#include <asio/io_context.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cli {

/// Berth itself failed or was called wrongly. As with docker and env, no other code means that: every other may be the command's.
inline constexpr int exit_own_failure = 125;
/// Plus a signal: end by that signal ourselves, as a shell expects of a program that control C has ended; its loops go on otherwise.
inline constexpr int ends_by_signal = 256;
/// Nobody reads our output any more: what a shell reports for a program that died of SIGPIPE.
inline constexpr int exit_broken_pipe = 141;

using words = std::vector<std::string>;

struct subcommand {
  std::string_view name;
  std::string_view summary;  ///< one line in `berth help`
  std::string_view help;     ///< the whole of `berth help NAME`
  /// Gets the words behind the name. Throws usage_error at once; the task gives the exit code.
  task<int> (*run)(asio::io_context& io, words arguments);
};

/// The caller of the program made a mistake: one line of what and where.
class usage_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Writes to standard output, or another descriptor, and gives the exit code for having done so.
int print_text(std::string_view text, int fd = STDOUT_FILENO);

/// The same as a task: what `berth NAME --help` does.
task<int> show_help(std::string_view text);

/// One line on standard error: "berth: TEXT", or "berth: SUBCOMMAND: TEXT". Line breaks and control characters in the text are
/// shown as `?`, since it may hold what others wrote. In a raw terminal, whose cursor may be anywhere, it is a line of its own too.
void print_error(std::string_view text);
void print_error(std::string_view subcommand, std::string_view text);

}  // namespace berth::cli
