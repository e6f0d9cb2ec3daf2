/// The same work in other languages: what do people use today, and what does it cost?

#include "suite/peer.hpp"
#include "suite/suite.hpp"

#include <berth/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace berth::suite {
namespace {

/// What a peer is asked for.
struct peer_bench {
  std::string name;
  std::string ours;   ///< the row of ours
  std::size_t count;  ///< its number in the request
  double amount;      ///< of what the bench's unit counts
  std::vector<std::string> argv;
  bool in_container = false;

  std::string request(const shared_site& site) const {
    std::string text = fmt::format("{}\t{}\t", name, count);
    if (in_container) text += site->container + '\t';
    return text + fmt::format("{}", fmt::join(argv, "\t"));
  }
};

std::vector<peer_bench> peer_benches() {
  return {
      {"exec", "exec/host", 1, 1, {"/bin/true"}},
      {"exec64", "exec64/host", execs_at_once, execs_at_once, {"/bin/true"}},
      {"stream", "stream/host", stream_total, stream_total / 1e6, worker_words("write", std::to_string(stream_total))},
      {"first-byte", "first-byte/host", 1, 1, {"/bin/echo", "x"}},
      {"pty", "pty/host", keys_in_sample, keys_in_sample, worker_words("echo")},
      {"docker-exec", "exec/docker", 1, 1, {"/bin/true"}, true},
      {"docker-stream", "stream/docker", container_stream, container_stream / 1e6, zeros_words(container_stream), true},
  };
}

void require_known(const std::vector<peer_bench>& benches, const peer_program& by) {
  for (const auto& work : by.works) {
    const bool known =
        std::any_of(benches.begin(), benches.end(), [&](const auto& each) { return each.name == work.bench; });
    if (!known) throw error(errc::invalid_argument, fmt::format("{}: '{}' is no bench for peers", by.name, work.bench));
  }
}

/// A peer of containers is called so, whatever its name: it is left out with them.
std::string row_name(const peer_bench& what, const std::string& peer) {
  const auto group = what.ours.substr(0, what.ours.find('/') + 1);
  const bool needs_mark = what.in_container && !peer.starts_with("docker");
  return group + (needs_mark ? "docker-" : "") + peer;
}

task<double> peer_sample(shared_peer its, peer_bench what, shared_site site, bench::better direction) {
  const double micros = co_await ask_peer(std::move(its), what.request(site));
  co_return direction == bench::better::more ? what.amount * 1e6 / micros : micros / what.amount;
}

/// Opens our container first, which it works in.
task<void> open_beside(std::function<task<void>()> open_ours, shared_peer its, shared_site site) {
  co_await open_ours();
  its->env = {{"DOCKER_HOST", site->host}};
  co_await open_peer(std::move(its));
}

task<void> close_beside(std::function<task<void>()> close_ours, shared_peer its) {
  co_await close_peer(std::move(its));
  co_await close_ours();
}

bench::subject peer_subject(const shared_peer& its, const peer_bench& what, const bench::subject& ours,
                            const shared_site& site) {
  const auto direction = ours.direction;
  bench::subject made = {.name = row_name(what, its->program.name),
                         .unit = ours.unit,
                         .direction = direction,
                         .runs = ours.runs,
                         .warmup = ours.warmup,
                         .sample = [its, what, site, direction] { return peer_sample(its, what, site, direction); },
                         .prepare = [its] { return open_peer(its); },
                         .finish = [its] { return close_peer(its); }};
  if (!what.in_container) return made;
  constexpr int slow = 60;  // some ten milliseconds and more each
  made.runs = std::min(made.runs, slow);
  made.warmup = std::min(made.warmup, 3);
  made.prepare = [open = ours.prepare, its, site] { return open_beside(open, its, site); };
  made.finish = [close = ours.finish, its] { return close_beside(close, its); };
  return made;
}

/// Else it would be taken for the other one.
void require_new(const subjects& all, const subjects& theirs, const std::string& name) {
  const auto is_it = [&](const bench::subject& each) { return each.name == name; };
  if (std::any_of(all.begin(), all.end(), is_it) || std::any_of(theirs.begin(), theirs.end(), is_it))
    throw error(make_error_code(errc::invalid_argument), "peers: there is a " + name + " already");
}

}  // namespace

peer_row row_of(const std::string& bench, const std::string& peer) {
  for (const auto& what : peer_benches()) {
    if (what.name == bench) return {.name = row_name(what, peer), .ours = what.ours};
  }
  return {};
}

void add_peers(subjects& all, const std::vector<shared_peer>& peers, const shared_site& site) {
  const auto benches = peer_benches();
  for (const auto& each : peers) require_known(benches, each->program);
  for (const auto& what : benches) {
    const auto ours =
        std::find_if(all.begin(), all.end(), [&](const bench::subject& one) { return one.name == what.ours; });
    if (ours == all.end()) continue;
    subjects theirs;
    for (const auto& each : peers) {
      for (const auto& work : each->program.works) {
        if (work.bench != what.name) continue;
        auto one = peer_subject(each, what, *ours, site);
        require_new(all, theirs, one.name);
        theirs.push_back(std::move(one));
        ours->bases.push_back({.name = theirs.back().name, .bar = work.bar});
      }
    }
    all.insert(ours + 1, std::make_move_iterator(theirs.begin()), std::make_move_iterator(theirs.end()));
  }
}

}  // namespace berth::suite
