#pragma once
/// What the words for files share: a place, standard output, signals, exit codes.

#include "cli/command_run.hpp"
#include "cli/pull_display.hpp"
#include "cli/subcommand.hpp"

#include <berth/docker_context.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace berth::cli {

/// Something that was asked for could not be done; the others were.
inline constexpr int exit_file_failure = 1;

/// Where such a word works.
struct file_place {
  std::string cwd = {};  ///< on this host; empty: ours
  std::optional<docker_context_options> container = {};
};

/// One call of such a word; shared by the coroutines of it.
struct file_run : place_run {
  file_run(asio::io_context& io, std::string_view name, file_place place_of, std::shared_ptr<pull_display> display);

  std::string_view word;
  std::string cwd;
  std::shared_ptr<pull_display> pulls;
  bool has_failed = false;
  int signal = 0;  ///< that is to end us
};

/// What a word does in its place.
using file_job = std::function<task<void>(std::shared_ptr<file_run>)>;

/// Makes a place and does the job there. INT, TERM, HUP and QUIT cancel it, and end us when it has
/// ended; a second one ends us at once.
task<int> run_in_place(asio::io_context& io, std::string_view word, file_place where, file_job job);

/// Awaits. A failure is told in one line and counts for the exit code; what comes behind it goes on.
task<void> attempt(std::shared_ptr<file_run> run, task<void> work);

/// Writes to standard output. A failure of that ends the run.
task<void> put(std::shared_ptr<file_run> run, std::string bytes);

/// The arguments of a word for files: options and paths in any order.
struct file_words {
  words paths;
  file_place place;
  bool help = false;
};

/// Adds `--cwd`, `--help` and the options for containers, which all of them have, and reads. Throws usage_error, also where there are fewer paths than this.
file_words parse_file_words(CLI::App& app, const words& arguments, std::size_t fewest);

}  // namespace berth::cli
