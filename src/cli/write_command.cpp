#include "cli/arguments.hpp"
#include "cli/container_help.hpp"
#include "cli/file_run.hpp"
#include "cli/file_words.hpp"

#include <berth/error.hpp>

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <memory>
#include <system_error>
#include <utility>

namespace berth::cli {

namespace {

constexpr auto whole_write_help = joined(R"help(Usage: berth write [OPTIONS] PATH

Writes standard input to a file. The file is replaced in one step when the input has ended: until
then, and whatever goes wrong, even control C, the old one stays.

Options:
  --cwd DIR         where a relative path begins; default: our own directory
  --mode MODE       permission bits, as in 0644; default: those of the file that is replaced, 0666
                    less the umask for a new one
  --new             only make a new file; fail if there is one
  --expect-hash H   only replace a file that has this hash ('berth read --hash'): nobody else has
                    changed it since
  --no-parents      do not make missing directories
  --durable         return once the bytes are on the disk
  -h, --help        this text
)help",
                                         container_files_help, R"help(
Options may also stand behind the path; `--` ends them.

Exit code: 0; 1 if the file could not be written; 125 when berth itself failed or was called
wrongly.

Examples:
  echo 'debug = true' | berth write --cwd app conf/local.toml
  seen=$(berth read --hash notes.txt)
  sed s/old/new/ notes.txt | berth write notes.txt --expect-hash "$seen"
)help");

}  // namespace

const std::string_view write_help = text_of_help(whole_write_help);

namespace {

constexpr unsigned most_bits = 0777;

/// Our standard input.
class input_source final : public byte_source {
 public:
  explicit input_source(const asio::any_io_executor& executor)
      : input_(std::make_shared<standard_stream>(executor, STDIN_FILENO, standard_stream::direction::in)) {}

  task<std::string> next() override { return next_of(input_); }

 private:
  static task<std::string> next_of(std::shared_ptr<standard_stream> input) {
    try {
      co_return co_await input->read();
    } catch (const std::system_error& failure) {
      if (is_cancelled(failure.code())) throw;
      throw error(failure.code(), "standard input");
    }
  }

  std::shared_ptr<standard_stream> input_;
};

task<void> write_one(std::shared_ptr<file_run> run, std::string path, write_options how) {
  // So a terminal answers EIO while we are in the background, instead of stopping us.
  std::signal(SIGTTIN, SIG_IGN);
  std::unique_ptr<byte_source> input = std::make_unique<input_source>(run->place.get_executor());
  co_await run->place.write_file(*run->where, std::move(path), std::move(input), std::move(how));
}

task<void> write_all(std::shared_ptr<file_run> run, std::string path, write_options how) {
  co_await attempt(run, write_one(run, std::move(path), std::move(how)));
}

unsigned mode_of(const std::string& text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  const bool usable = !text.empty() && text.size() <= 6 && std::all_of(text.begin(), text.end(), is_octal);
  const unsigned long bits = usable ? std::stoul(text, nullptr, 8) : most_bits + 1;
  if (bits > most_bits) throw usage_error(fmt::format("--mode: '{}' is no mode; write octal digits, as in 0644", text));
  return static_cast<unsigned>(bits);
}

write_options options_of(const CLI::App& app) {
  write_options how;
  if (const auto mode = last_value_of(app, "--mode")) how.mode(mode_of(*mode));
  if (const auto hash = last_value_of(app, "--expect-hash")) how.expect_hash(*hash);
  how.expect_absent(app.count("--new") > 0);
  how.make_parents(app.count("--no-parents") == 0);
  how.durable(app.count("--durable") > 0);
  how.validate();
  return how;
}

}  // namespace

task<int> write_command(asio::io_context& io, words arguments) {
  CLI::App app("", "write");
  for (const char* names : {"--mode", "--expect-hash"}) add_value(app, names);
  for (const char* names : {"--new", "--no-parents", "--durable"}) app.add_flag(names);
  auto given = parse_file_words(app, arguments, 1);
  if (given.help) return show_help(write_help);
  if (given.paths.size() > 1) throw usage_error("more than one path given; standard input goes to one file");
  auto job = [path = given.paths.front(), how = options_of(app)](std::shared_ptr<file_run> run) {
    return write_all(std::move(run), path, how);
  };
  return run_in_place(io, "write", std::move(given.place), std::move(job));
}

}  // namespace berth::cli
