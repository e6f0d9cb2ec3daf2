#include "cli/container_help.hpp"
#include "cli/file_run.hpp"
#include "cli/file_words.hpp"

#include <CLI/CLI.hpp>

#include <utility>

namespace berth::cli {

namespace {

constexpr auto whole_mkdir_help = joined(R"(Usage: berth mkdir [OPTIONS] PATH...

Makes directories, with their parents. One that is there already is fine.

Options:
  --cwd DIR     where relative paths begin; default: our own directory
  -h, --help    this text
)",
                                         container_files_help, R"(
Options may also stand behind paths; `--` ends them.

Exit code: 0; 1 if a directory could not be made (the others are); 125 when berth itself failed or
was called wrongly.

Example:
  berth mkdir --cwd app build/debug build/release
)");

}  // namespace

const std::string_view mkdir_help = text_of_help(whole_mkdir_help);

namespace {

task<void> make_all(std::shared_ptr<file_run> run, words paths) {
  for (auto& path : paths) co_await attempt(run, run->place.make_directory(*run->where, std::move(path)));
}

}  // namespace

task<int> mkdir_command(asio::io_context& io, words arguments) {
  CLI::App app("", "mkdir");
  auto given = parse_file_words(app, arguments, 1);
  if (given.help) return show_help(mkdir_help);
  auto job = [paths = std::move(given.paths)](std::shared_ptr<file_run> run) {
    return make_all(std::move(run), paths);
  };
  return run_in_place(io, "mkdir", std::move(given.place), std::move(job));
}

}  // namespace berth::cli
