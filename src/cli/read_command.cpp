#include "cli/arguments.hpp"
#include "cli/container_help.hpp"
#include "cli/file_run.hpp"
#include "cli/file_words.hpp"

#include <CLI/CLI.hpp>

#include <utility>

namespace berth::cli {

namespace {

constexpr auto whole_read_help = joined(R"(Usage: berth read [OPTIONS] PATH...

Writes the bytes of files to standard output, one file after the other, exactly as they are.

Options:
  --cwd DIR     where relative paths begin; default: our own directory
  --offset N    begin behind the first N bytes of each file
  --limit N     at most N bytes of each file
  --hash        for each file a line with the hash of those bytes in place of them, as
                'berth write --expect-hash' takes it
  -h, --help    this text
)",
                                        container_files_help, R"(
Options may also stand behind paths; `--` ends them.

Exit code: 0; 1 if a file could not be read (the others are); 125 when berth itself failed or was
called wrongly; 141 when nobody reads our output any more.

Examples:
  berth read --cwd app package.json
  berth read --container web /etc/hosts
  berth read --offset 1000000 --limit 4096 server.log
)");

}  // namespace

const std::string_view read_help = text_of_help(whole_read_help);

namespace {

struct read_request {
  read_options range;
  bool hash = false;
};

task<void> read_one(std::shared_ptr<file_run> run, std::string path, read_request how) {
  const auto file = co_await run->place.open_file(*run->where, std::move(path), how.range);
  content_hasher hasher;
  for (;;) {
    auto piece = co_await file->next();
    if (piece.empty()) break;
    if (how.hash)
      hasher.update(piece);
    else
      co_await put(run, std::move(piece));
  }
  if (how.hash) co_await put(run, hasher.finish() + "\n");
}

task<void> read_all(std::shared_ptr<file_run> run, words paths, read_request how) {
  for (auto& path : paths) co_await attempt(run, read_one(run, std::move(path), how));
}

}  // namespace

task<int> read_command(asio::io_context& io, words arguments) {
  CLI::App app("", "read");
  for (const char* names : {"--offset", "--limit"}) add_value(app, names);
  app.add_flag("--hash");
  auto given = parse_file_words(app, arguments, 1);
  if (given.help) return show_help(read_help);
  read_request how;
  how.hash = app.count("--hash") > 0;
  how.range.offset(number_of(app, "--offset").value_or(0));
  how.range.limit(number_of(app, "--limit").value_or(read_options::unlimited));
  auto job = [paths = std::move(given.paths), how](std::shared_ptr<file_run> run) {
    return read_all(std::move(run), paths, how);
  };
  return run_in_place(io, "read", std::move(given.place), std::move(job));
}

}  // namespace berth::cli
