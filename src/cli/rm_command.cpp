#include "cli/container_help.hpp"
#include "cli/file_run.hpp"
#include "cli/file_words.hpp"

#include <CLI/CLI.hpp>

#include <utility>

namespace berth::cli {

namespace {

constexpr auto whole_rm_help = joined(R"(Usage: berth rm [OPTIONS] PATH...

Removes files, links (not what they mean), and empty directories.

Options:
  --cwd DIR          where relative paths begin; default: our own directory
  -r, --recursive    directories with all that is in them
  -h, --help         this text
)",
                                      container_files_help, R"(
Options may also stand behind paths; `--` ends them.

Exit code: 0; 1 if something could not be removed or was not there (the others are removed); 125
when berth itself failed or was called wrongly.

Examples:
  berth rm --cwd app build/cache.db
  berth rm -r build dist
)");

}  // namespace

const std::string_view rm_help = text_of_help(whole_rm_help);

namespace {

task<void> remove_all(std::shared_ptr<file_run> run, words paths, remove_options how) {
  for (auto& path : paths) co_await attempt(run, run->place.remove(*run->where, std::move(path), how));
}

}  // namespace

task<int> rm_command(asio::io_context& io, words arguments) {
  CLI::App app("", "rm");
  app.add_flag("-r,--recursive");
  auto given = parse_file_words(app, arguments, 1);
  if (given.help) return show_help(rm_help);
  remove_options how;
  how.recursive(app.count("--recursive") > 0);
  auto job = [paths = std::move(given.paths), how](std::shared_ptr<file_run> run) {
    return remove_all(std::move(run), paths, how);
  };
  return run_in_place(io, "rm", std::move(given.place), std::move(job));
}

}  // namespace berth::cli
