#include "cli/arguments.hpp"
#include "cli/container_help.hpp"
#include "cli/file_run.hpp"
#include "cli/file_words.hpp"
#include "cli/transfer_report.hpp"

#include <berth/files.hpp>

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace berth::cli {

namespace {

constexpr auto whole_cp_help = joined(R"(Usage: berth cp [OPTIONS] FROM :TO
       berth cp [OPTIONS] :FROM TO

Copies a file or a tree between this host and the place that --cwd names. The path with a colon
before it is in the place, the other one is on this host and begins at our own directory.

FROM becomes TO: the content of a directory becomes content of the directory TO, made if missing;
what else is there stays. A file becomes the file TO. Each file is replaced in one step. Modes,
links and empty directories are kept, owners are not.

Options:
  --cwd DIR            the directory of the place; default: our own directory
  --exclude PATTERN    leave out what matches, as a line of .gitignore would; may be repeated
  --outside-links      make links that lead out of the tree also when copying from the place
  --progress           tell how far it is, also where standard error is no terminal
  -h, --help           this text
)",
                                      container_files_help, R"(
Options may also stand behind paths; `--` ends them. For a name on this host that begins with a
colon write ./:NAME.

Left out are sockets, fifos and devices, and, when copying from the place, links that lead out of
the tree. A line on standard error names them.

Exit code: 0, also where something was left out; 1 if the copy failed; 125 when berth itself failed
or was called wrongly.

Examples:
  berth cp --cwd app --exclude node_modules/ --exclude '*.log' ./src :src
  berth cp --cwd app :dist ./out
  berth cp --container web ./site :/srv/site
)");

}  // namespace

const std::string_view cp_help = text_of_help(whole_cp_help);

namespace {

struct cp_request {
  std::string from;
  std::string to;
  bool is_upload = false;
  words excluded;
  bool outside_links = false;
  bool tells_progress = false;
  bool on_terminal = false;
};

task<void> copy(std::shared_ptr<file_run> run, cp_request what) {
  transfer_options how;
  for (const auto& pattern : what.excluded) how.exclude(pattern);
  how.keep_outside_links(what.outside_links);
  std::optional<progress_report> report;
  if (what.tells_progress) report.emplace(what.on_terminal);
  auto tell = [&report](const transfer_progress& now) { report->tell(now); };
  if (report) how.on_progress(tell);
  auto copying = what.is_upload
                     ? run->place.upload(*run->where, std::move(what.from), std::move(what.to), std::move(how))
                     : run->place.download(*run->where, std::move(what.from), std::move(what.to), std::move(how));
  const auto done = co_await std::move(copying);
  if (report) report->finish(done);
  report.reset();
  const auto skipped = skipped_text(done);
  if (!skipped.empty()) print_error(run->word, skipped);
}

task<void> copy_all(std::shared_ptr<file_run> run, cp_request what) {
  co_await attempt(run, copy(run, std::move(what)));
}

cp_request request_of(const CLI::App& app, const words& paths) {
  constexpr const char* rule =
      "exactly one of FROM and TO is in the place and has a colon before it: './dir :dir', ':out ./out'";
  if (paths.size() != 2) throw usage_error("more than two paths given; 'berth help cp' shows how");
  const auto in_place = [](const std::string& path) { return path.starts_with(':'); };
  cp_request what;
  what.is_upload = in_place(paths[1]);
  if (what.is_upload == in_place(paths[0])) throw usage_error(rule);
  what.from = what.is_upload ? paths[0] : paths[0].substr(1);
  what.to = what.is_upload ? paths[1].substr(1) : paths[1];
  if (what.from.empty() || what.to.empty()) throw usage_error("a path is empty; the place's own directory is ':.'");
  what.excluded = values_of(app, "--exclude");
  what.outside_links = app.count("--outside-links") > 0;
  what.on_terminal = ::isatty(STDERR_FILENO) == 1;
  what.tells_progress = what.on_terminal || app.count("--progress") > 0;
  return what;
}

}  // namespace

task<int> cp_command(asio::io_context& io, words arguments) {
  CLI::App app("", "cp");
  add_value(app, "--exclude");
  for (const char* names : {"--outside-links", "--progress"}) app.add_flag(names);
  auto given = parse_file_words(app, arguments, 2);
  if (given.help) return show_help(cp_help);
  auto job = [what = request_of(app, given.paths)](std::shared_ptr<file_run> run) {
    return copy_all(std::move(run), what);
  };
  return run_in_place(io, "cp", std::move(given.place), std::move(job));
}

}  // namespace berth::cli
