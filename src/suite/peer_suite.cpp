/// The same work in other languages: what do people use today, and what does it cost?

#include "suite/peer.hpp"
#include "suite/suite.hpp"

#include <berth/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace berth::suite {
namespace {

/// What a peer is asked for.
struct peer_bench {
  std::string name;
  std::size_t count;  ///< its number in the request
  double amount;      ///< of what the bench's unit counts
  std::vector<std::string> argv;

  std::string request() const { return fmt::format("{}\t{}\t{}", name, count, fmt::join(argv, "\t")); }
};

std::vector<peer_bench> peer_benches() {
  return {
      {"exec", 1, 1, {"/bin/true"}},
      {"exec64", execs_at_once, execs_at_once, {"/bin/true"}},
      {"stream", stream_total, stream_total / 1e6, worker_words("write", std::to_string(stream_total))},
      {"first-byte", 1, 1, {"/bin/echo", "x"}},
      {"pty", keys_in_sample, keys_in_sample, worker_words("echo")},
  };
}

void require_known(const std::vector<peer_bench>& benches, const peer_program& by) {
  for (const auto& work : by.works) {
    const bool known =
        std::any_of(benches.begin(), benches.end(), [&](const auto& each) { return each.name == work.bench; });
    if (!known) throw error(errc::invalid_argument, fmt::format("{}: '{}' is no bench for peers", by.name, work.bench));
  }
}

task<double> peer_sample(shared_peer its, peer_bench what, bench::better direction) {
  const double micros = co_await ask_peer(std::move(its), what.request());
  co_return direction == bench::better::more ? what.amount * 1e6 / micros : micros / what.amount;
}

bench::subject peer_subject(const shared_peer& its, const peer_bench& what, const bench::subject& ours) {
  const auto direction = ours.direction;
  return {.name = what.name + '/' + its->program.name,
          .unit = ours.unit,
          .direction = direction,
          .runs = ours.runs,
          .warmup = ours.warmup,
          .sample = [its, what, direction] { return peer_sample(its, what, direction); },
          .prepare = [its] { return open_peer(its); },
          .finish = [its] { return close_peer(its); }};
}

/// Else it would be taken for the other one.
void require_new(const subjects& all, const subjects& theirs, const std::string& name) {
  const auto is_it = [&](const bench::subject& each) { return each.name == name; };
  if (std::any_of(all.begin(), all.end(), is_it) || std::any_of(theirs.begin(), theirs.end(), is_it))
    throw error(make_error_code(errc::invalid_argument), "peers: there is a " + name + " already");
}

}  // namespace

void add_peers(subjects& all, const std::vector<shared_peer>& peers) {
  const auto benches = peer_benches();
  for (const auto& each : peers) require_known(benches, each->program);
  for (const auto& what : benches) {
    const auto ours = std::find_if(all.begin(), all.end(),
                                   [&](const bench::subject& one) { return one.name == what.name + "/host"; });
    if (ours == all.end()) continue;
    subjects theirs;
    for (const auto& each : peers) {
      for (const auto& work : each->program.works) {
        if (work.bench != what.name) continue;
        auto one = peer_subject(each, what, *ours);
        require_new(all, theirs, one.name);
        theirs.push_back(std::move(one));
        ours->bases.push_back({.name = theirs.back().name, .bar = work.bar});
      }
    }
    all.insert(ours + 1, std::make_move_iterator(theirs.begin()), std::make_move_iterator(theirs.end()));
  }
}

}  // namespace berth::suite
