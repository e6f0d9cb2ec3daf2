#include "cli/bench_command.hpp"

#include "cli/arguments.hpp"
#include "cli/bench_files.hpp"
#include "cli/bench_peers.hpp"
#include "cli/bench_progress.hpp"
#include "cli/orderly_end.hpp"
#include "core/task_group.hpp"
#include "suite/suite.hpp"

#include <berth/bench.hpp>
#include <berth/error.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <asio/signal_set.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <csignal>
#include <limits>
#include <optional>
#include <utility>

namespace berth::cli {

const std::string_view bench_help = R"(Usage: berth bench [OPTIONS] [NAME...]

Measures what this library costs on this machine, against floors of plain system calls. What is
compared takes turns, one sample each. NAME is a bench, or the beginning of some; their bases are
measured too.

  berth bench --list
  berth bench exec/host
  berth bench exec --runs 50 --json today.json
  berth bench exec --compare yesterday.json
  berth bench --peers exec

Options:
  --runs N        samples of each bench (default: each its own)
  --warmup N      rounds that are thrown away before (default: each its own)
  --json FILE     all samples and the machine, as one JSON document
  --csv FILE      a line for each bench
  --html FILE     a page with plots, in one file
  --svg FILE      the ratios as one picture
  --compare FILE  tell what has changed since this JSON document was written, beyond noise
  --peers         measure what other languages do for the same work too: those of Node.js, Python
                  and Rust that are here. What is missing is named; nothing is installed
  --peers-in DIR  the same with the peers in this folder (its README.md: how to write one)
  --progress      tell on standard error how far it is, also where that is no terminal
  --list          what can be measured, with the bases
  -h, --help      this text

A ratio below 1 is always better than the base. INT ends it with a report of what there is.

Exit code: 0, or 1 where a sample failed or something was left behind.
)";

namespace {

struct bench_options {
  bench::options how;
  words names;
  report_files files;
  std::optional<bench::report> before;
  found_peers peers;
  bool list = false;
  bool progress = false;
};

std::optional<int> count_of(const CLI::App& app, const std::string& name, std::uint64_t least) {
  const auto given = number_of(app, name);
  if (!given) return std::nullopt;
  constexpr std::uint64_t most = 1'000'000;
  if (*given < least || *given > most) throw usage_error(fmt::format("{}: from {} to {}", name, least, most));
  return static_cast<int>(*given);
}

bench_options read_options(const CLI::App& app, words names) {
  bench_options read;
  read.names = std::move(names);
  read.how.runs = count_of(app, "--runs", 1);
  read.how.warmup = count_of(app, "--warmup", 0);
  read.list = app.count("--list") > 0;
  read.progress = app.count("--progress") > 0 || ::isatty(STDERR_FILENO) == 1;
  if (read.list) return read;
  if (const auto path = last_value_of(app, "--compare")) read.before = read_report(*path);
  const report_paths paths{last_value_of(app, "--json"), last_value_of(app, "--csv"), last_value_of(app, "--html"),
                           last_value_of(app, "--svg")};
  read.files = report_files(paths);
  return read;
}

task<int> give(int code) { co_return code; }

task<int> show_list(const suite::subjects& all) {
  std::size_t widest = 20;
  for (const auto& each : all) widest = std::max(widest, each.name.size());
  std::string text;
  for (const auto& each : all) {
    std::string bases;
    for (const auto& to : each.bases) bases += (bases.empty() ? "against " : ", ") + to.name;
    std::string line = fmt::format("{:<{}} {:<8} {}", each.name, widest, each.unit, bases);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return give(print_text(text));
}

suite::subjects chosen_of(const suite::subjects& all, const words& names) {
  try {
    return bench::choose(all, names);
  } catch (const error& failure) {
    throw usage_error(failure.message() + "; --list names them");
  }
}

struct measuring {
  explicit measuring(asio::io_context& io) : signals(io), group(io.get_executor()) {}

  asio::signal_set signals;
  task_group group;
  bench::report report;
  int ended_by = 0;
  bool finished = false;
};

/// At the end of the work the loop that waits for signals ends too.
struct end_of_measuring {
  measuring& its;
  ~end_of_measuring() {
    its.finished = true;
    its.signals.cancel();
  }
};

task<void> measure(std::shared_ptr<measuring> its, suite::subjects chosen, bench::options how) {
  const end_of_measuring at_the_end{*its};
  its->report = co_await bench::run(std::move(chosen), std::move(how));
}

task<void> end_by_signal(std::shared_ptr<measuring> its) {
  try {
    its->ended_by = co_await its->signals.async_wait(asio::use_awaitable);
  } catch (const std::system_error&) {
    if (its->finished) co_return;
    throw;
  }
  its->signals.clear();  // a second one ends us the usual way
  its->group.cancel();
}

int code_of(const measuring& its) {
  if (its.ended_by != 0) return ends_by_signal + its.ended_by;
  return its.report.ok() ? 0 : 1;
}

task<int> run_benches(asio::io_context& io, suite::subjects chosen, bench_options asked) {
  auto its = std::make_shared<measuring>(io);
  listen_for(its->signals, {SIGINT, SIGTERM, SIGHUP});
  progress_line line(asked.progress);
  asked.how.on_progress = [&line](const bench::progress& now) { line.show(now); };
  its->group.spawn(measure(its, std::move(chosen), std::move(asked.how)));
  auto signal_loop = end_by_signal(its);
  const auto failure = co_await failure_of(std::move(signal_loop));
  if (failure) its->group.cancel();
  co_await its->group.join();
  line.clear();
  if (failure) std::rethrow_exception(failure);
  note_versions(its->report, asked.peers);
  std::vector<bench::change> changes;
  if (asked.before) changes = bench::compare(*asked.before, its->report);
  asked.files.write(its->report, changes);
  const int printed = print_text(bench::to_text(its->report, changes));
  co_return printed == 0 ? code_of(*its) : printed;
}

}  // namespace

task<int> bench_command(asio::io_context& io, words arguments) {
  if (!arguments.empty() && arguments.front() == suite::worker_word) {
    arguments.erase(arguments.begin());
    return suite::work(io, std::move(arguments));
  }
  CLI::App app;
  app.set_help_flag("");
  for (const char* names : {"--list", "--peers", "--progress", "-h,--help"}) app.add_flag(names);
  for (const char* name : {"--runs", "--warmup", "--json", "--csv", "--html", "--svg", "--compare", "--peers-in"})
    add_value(app, name);
  auto sorted = sort_words(app, arguments);
  parse_options(app, sorted.options);
  if (app.count("--help") > 0) return show_help(bench_help);
  auto asked = read_options(app, std::move(sorted.command));
  auto all = suite::whole_suite(io);
  const auto folder = last_value_of(app, "--peers-in");
  if (folder || app.count("--peers") > 0) asked.peers = find_peers(io, folder);
  add_peers(all, asked.peers);
  if (asked.list) {
    name_missing(asked.peers, all);
    return show_list(all);
  }
  auto chosen = chosen_of(all, asked.names);
  name_missing(asked.peers, chosen);
  return run_benches(io, std::move(chosen), std::move(asked));
}

}  // namespace berth::cli
