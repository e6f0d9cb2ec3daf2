#include "cli/arguments.hpp"
#include "cli/container_help.hpp"
#include "cli/file_lines.hpp"
#include "cli/file_run.hpp"
#include "cli/file_words.hpp"

#include <berth/error.hpp>

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <optional>
#include <system_error>
#include <utility>

namespace berth::cli {

namespace {

constexpr auto whole_ls_help = joined(R"(Usage: berth ls [OPTIONS] [PATH...]

Lists directories, sorted, with hidden names: our own directory if no PATH is given. Names are
those below the directory; where several PATHs are given each begins with its PATH. A file is
listed itself.

Options:
  --cwd DIR          where relative paths begin; default: our own directory
  -l                 type and mode, size in bytes, time of the last change (UTC), name, link target
  --depth N          so many levels; default 1
  -R, --recursive    all levels; links are not followed
  --json             a JSON object a line: path, type, size, mode, modified, link_target
  -0                 end names with NUL in place of a newline
  -h, --help         this text
)",
                                      container_files_help, R"(
Options may also stand behind paths; `--` ends them.

On a terminal, names that it cannot show as they are stand escaped in quotes. Elsewhere they are the
exact bytes; in JSON, a path that is not UTF-8 has its bytes in path_base64 too.

Exit code: 0; 1 if something could not be listed (the others are); 125 when berth itself failed or
was called wrongly; 141 when nobody reads our output any more.

Examples:
  berth ls -l src
  berth ls -R -0 src | xargs -0 -n 1 echo
  berth ls --container web -l /var/log
  berth ls --json --recursive src | jq -r 'select(.size > 100000).path'
)");

}  // namespace

const std::string_view ls_help = text_of_help(whole_ls_help);

namespace {

constexpr std::size_t gathered = std::size_t{64} << 10;

struct ls_request {
  line_style style;
  list_options depth;
  bool several = false;
};

/// What is in the directory; nothing for what is none.
task<std::optional<std::vector<file_info>>> content_of(std::shared_ptr<file_run> run, file_info what, std::string path,
                                                       list_options depth) {
  const bool is_link = what.type() == file_type::symlink;
  if (!is_link && !what.is_directory()) co_return std::nullopt;
  try {
    auto listing = run->place.list_files(*run->where, std::move(path), depth);
    auto found = co_await std::move(listing);
    co_return std::optional<std::vector<file_info>>(std::move(found));
  } catch (const error& failure) {
    const bool leads_nowhere = failure.code() == errc::not_a_directory || failure.code() == errc::not_found;
    if (!is_link || !leads_nowhere) throw;
  }
  co_return std::nullopt;
}

file_info named(const file_info& what, const std::string& path) {
  file_info same(path, what.type());
  same.size(what.size()).modified(what.modified()).mode(what.mode()).link_target(what.link_target());
  return same;
}

task<void> list_one(std::shared_ptr<file_run> run, std::string path, ls_request how) {
  auto looking = run->place.stat(*run->where, path);
  const file_info what = co_await std::move(looking);
  auto content = co_await content_of(run, what, path, how.depth);
  std::string prefix;
  if (!content)
    content.emplace(1, named(what, path));
  else if (how.several)
    prefix = path + (path.ends_with('/') ? "" : "/");
  std::string text;
  for (auto& line : file_lines(*content, prefix, how.style)) {
    text += line;
    if (text.size() < gathered) continue;
    co_await put(run, std::move(text));
    text.clear();
  }
  co_await put(run, std::move(text));
}

task<void> list_all(std::shared_ptr<file_run> run, words paths, ls_request how) {
  for (auto& path : paths) co_await attempt(run, list_one(run, std::move(path), how));
}

ls_request request_of(const CLI::App& app) {
  ls_request how;
  how.style.long_form = app.count("-l") > 0;
  how.style.json = app.count("--json") > 0;
  how.style.ends_with_nul = app.count("-0") > 0;
  how.style.for_terminal = ::isatty(STDOUT_FILENO) == 1;
  if (how.style.json && (how.style.long_form || how.style.ends_with_nul))
    throw usage_error("--json has all of -l, and no need of -0");
  const auto depth = number_of(app, "--depth");
  const bool all = app.count("--recursive") > 0;
  if (depth && all) throw usage_error("--depth and --recursive exclude each other");
  if (depth && *depth == 0) throw usage_error("--depth must be at least 1");
  if (depth) how.depth.depth(*depth);
  if (all) how.depth.recursive();
  return how;
}

}  // namespace

task<int> ls_command(asio::io_context& io, words arguments) {
  CLI::App app("", "ls");
  add_value(app, "--depth");
  for (const char* names : {"-l", "-R,--recursive", "--json", "-0"}) app.add_flag(names);
  auto given = parse_file_words(app, arguments, 0);
  if (given.help) return show_help(ls_help);
  if (given.paths.empty()) given.paths.emplace_back(".");
  auto how = request_of(app);
  how.several = given.paths.size() > 1;
  auto job = [paths = std::move(given.paths), how](std::shared_ptr<file_run> run) {
    return list_all(std::move(run), paths, how);
  };
  return run_in_place(io, "ls", std::move(given.place), std::move(job));
}

}  // namespace berth::cli
