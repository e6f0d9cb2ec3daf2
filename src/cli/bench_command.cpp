#include "cli/bench_command.hpp"

#include "cli/arguments.hpp"
#include "cli/bench_files.hpp"
#include "cli/bench_peers.hpp"
#include "cli/bench_progress.hpp"
#include "cli/orderly_end.hpp"
#include "cli/unfinished_files.hpp"
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
#include <exception>
#include <limits>
#include <optional>
#include <utility>

namespace berth::cli {

const std::string_view bench_help = R"(Usage: berth bench [OPTIONS] [NAME...]

Measures what this library costs on this machine, against floors of plain system calls. What is
compared takes turns, one sample each. NAME is a bench ("exec/host"); else a group ("exec": all
exec/...); else the beginning of some ("exec/cur"). Their bases are measured too.

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
  --docker-image IMAGE
                  in which the benches of containers run (default: busybox, alpine, debian or
                  ubuntu, the first that the daemon has); nothing is pulled
  --progress      tell on standard error how far it is, also where that is no terminal
  --list          what can be measured, with the bases
  -h, --help      this text

A ratio below 1 is always better than the base. INT ends it with a report of what there is. Files
are written at the end; earlier ones stay until then, and where there was no sample.

Exit code: 0, or 1 where a sample failed or something was left behind.
)";

namespace {

struct bench_options {
  bench::options how;
  words names;
  report_paths files;
  std::optional<bench::report> before;
  found_peers peers;
  suite::shared_site site = std::make_shared<suite::docker_site>();
  bool with_peers = false;
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
  read.site->image = last_value_of(app, "--docker-image").value_or("");
  if (read.list) return read;
  if (const auto path = last_value_of(app, "--compare")) read.before = read_report(*path);
  read.files = {last_value_of(app, "--json"), last_value_of(app, "--csv"), last_value_of(app, "--html"),
                last_value_of(app, "--svg")};
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

suite::subjects chosen_of(const suite::subjects& all, const bench_options& asked) {
  try {
    return bench::choose(all, asked.names);
  } catch (const error& failure) {
    for (const auto& name : asked.names) {
      const auto words = peer_words(name, asked.peers, asked.with_peers);
      if (!words.empty()) throw usage_error(words);
    }
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
  end_by_signals();  // a second one does
  its->group.cancel();
}

int code_of(const measuring& its) {
  if (its.ended_by != 0) return ends_by_signal + its.ended_by;
  return its.report.ok() ? 0 : 1;
}

bool has_samples(const bench::report& what) {
  return std::any_of(what.results.begin(), what.results.end(), [](const auto& each) { return each.numbers.n > 0; });
}

/// The files, then the table, which comes also where a file could not be written.
int show_report(const measuring& its, report_files& files, const std::optional<bench::report>& before) {
  std::vector<bench::change> changes;
  auto shown = its.report;
  if (before) {
    changes = bench::compare(*before, shown);
    for (auto& each : bench::differences(before->machine, shown.machine)) shown.warnings.push_back(std::move(each));
  }
  std::exception_ptr failure;
  if (!has_samples(shown)) {
    if (files.any()) print_error("bench", "there is no sample: no report is written, and earlier ones stay");
  } else {
    try {
      files.write(its.report, shown, changes);
    } catch (const std::system_error&) {
      failure = std::current_exception();
    }
  }
  const int printed = print_text(bench::to_text(shown, changes));
  if (failure) std::rethrow_exception(failure);
  return printed == 0 ? code_of(its) : printed;
}

/// Takes out what cannot be measured here, and says why. `ask` is only awaited where it matters.
task<void> leave_out(suite::subjects* chosen, bool (*needs)(const bench::subject&), task<std::string> ask) {
  std::string names;
  for (const auto& each : *chosen) {
    if (needs(each)) names += (names.empty() ? "" : ", ") + each.name;
  }
  if (names.empty()) co_return;
  const std::string why = co_await std::move(ask);
  if (why.empty()) co_return;
  print_error("bench", fmt::format("without {}: {}", names, why));
  std::erase_if(*chosen, needs);
}

task<int> run_benches(asio::io_context& io, suite::subjects chosen, bench_options asked) {
  auto sandbox = suite::why_no_sandbox(io);
  co_await leave_out(&chosen, suite::needs_sandbox, std::move(sandbox));
  auto docker = suite::why_no_docker(io, asked.site);
  co_await leave_out(&chosen, suite::needs_docker, std::move(docker));
  if (chosen.empty()) co_return exit_own_failure;
  auto its = std::make_shared<measuring>(io);
  end_by_signals();                 // until somebody listens
  report_files files(asked.files);  // before `its`, which gives up the signals, they are gone
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
  co_return show_report(*its, files, asked.before);
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
  for (const char* name :
       {"--runs", "--warmup", "--json", "--csv", "--html", "--svg", "--compare", "--peers-in", "--docker-image"})
    add_value(app, name);
  auto sorted = sort_words(app, arguments);
  parse_options(app, sorted.options);
  if (app.count("--help") > 0) return show_help(bench_help);
  auto asked = read_options(app, std::move(sorted.command));
  auto all = suite::whole_suite(io, asked.site);
  const auto folder = last_value_of(app, "--peers-in");
  asked.with_peers = folder || app.count("--peers") > 0;
  if (asked.with_peers) asked.peers = find_peers(io, folder);
  add_peers(all, asked.peers, asked.site);
  if (asked.list) {
    name_missing(asked.peers, all);
    return show_list(all);
  }
  auto chosen = chosen_of(all, asked);
  name_missing(asked.peers, chosen);
  return run_benches(io, std::move(chosen), std::move(asked));
}

}  // namespace berth::cli
