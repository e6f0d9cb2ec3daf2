#include "bench/leftovers.hpp"
#include "bench/machine.hpp"
#include "bench/rounds.hpp"
#include "bench/statistics.hpp"
#include "core/deadline.hpp"

#include <berth/bench.hpp>
#include <berth/error.hpp>

#include <fmt/format.h>
#include <asio/error.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <set>
#include <system_error>

namespace berth::bench {
namespace {

using namespace std::chrono_literals;
using indices = std::vector<std::size_t>;

constexpr auto finish_limit = 30s;
constexpr auto settle_limit = 2s;
constexpr std::size_t given_up_after = 10;

/// One run; the coroutines of it share it.
struct running {
  std::vector<subject> subjects;
  options how;
  report so_far;
  std::size_t done = 0;
  std::size_t total = 0;
};
using shared_run = std::shared_ptr<running>;

int runs_of(const running& all, std::size_t index) { return all.how.runs.value_or(all.subjects[index].runs); }
int warmup_of(const running& all, std::size_t index) { return all.how.warmup.value_or(all.subjects[index].warmup); }

void note_failure(result& into, std::size_t count, const std::string& what) {
  if (into.failures == 0) into.first_failure = what;
  into.failures += count;
}

/// Lets others run too, and ends a run that was cancelled: a subject that blocks never does either.
task<void> let_others_run() {
  const auto executor = co_await asio::this_coro::executor;
  co_await asio::post(executor, asio::use_awaitable);
}

/// A failure may come of the signal that also cancels us: control C reaches what a subject started as well.
task<void> await_cancellation() {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor);
  timer.expires_after(10ms);
  co_await timer.async_wait(asio::use_awaitable);
}

/// Runs what may fail; its failure is noted. Whether it succeeded.
task<bool> attempt(shared_run all, std::size_t index, task<void> work) {
  std::string failure;
  try {
    co_await std::move(work);
    co_return true;
  } catch (const std::exception& thrown) {
    failure = thrown.what();
  }
  co_await await_cancellation();
  note_failure(all->so_far.results[index], 1, failure);
  co_return false;
}

task<void> keep_sample(std::function<task<double>()> sample, std::vector<double>* into) {
  const double value = co_await sample();
  if (into != nullptr) into->push_back(value);
}

task<void> take_turn(shared_run all, std::size_t index, bool counts) {
  const auto& what = all->subjects[index];
  auto& into = all->so_far.results[index];
  if (all->how.on_progress) all->how.on_progress({what.name, all->done, all->total});
  ++all->done;
  auto work = keep_sample(what.sample, counts ? &into.samples : nullptr);
  co_await attempt(all, index, std::move(work));
  into.given_up = into.samples.empty() && into.failures >= given_up_after;
}

task<void> measure(shared_run all, indices group) {
  int first = 0;
  int last = 0;
  for (const auto index : group) {
    first = std::min(first, -warmup_of(*all, index));
    last = std::max(last, runs_of(*all, index));
    if (!all->subjects[index].prepare) continue;
    auto work = all->subjects[index].prepare();
    const bool prepared = co_await attempt(all, index, std::move(work));
    all->so_far.results[index].given_up = !prepared;
  }
  for (int round = first; round < last; ++round) {
    for (const auto index : group) {
      if (round < -warmup_of(*all, index) || round >= runs_of(*all, index) || all->so_far.results[index].given_up)
        continue;
      co_await let_others_run();
      co_await take_turn(all, index, round >= 0);
    }
  }
}

/// Waits for what is on its way out, then counts what stays.
task<holdings> left_since(holdings before) {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor);
  const auto until = asio::steady_timer::clock_type::now() + settle_limit;
  auto left = more_than(before, holdings_now());
  while (left.descriptors + left.children > 0 && asio::steady_timer::clock_type::now() < until) {
    timer.expires_after(10ms);
    co_await timer.async_wait(asio::use_awaitable);
    left = more_than(before, holdings_now());
  }
  co_return left;
}

task<void> finish(shared_run all, indices group, holdings before) {
  for (const auto index : group) {
    if (!all->subjects[index].finish) continue;
    auto work = all->subjects[index].finish();
    co_await attempt(all, index, std::move(work));
  }
  const holdings left = co_await left_since(before);
  const std::size_t count = left.descriptors + left.children;
  if (count == 0) co_return;
  const auto what = fmt::format("left behind: {} descriptors, {} child processes", left.descriptors, left.children);
  for (const auto index : group) note_failure(all->so_far.results[index], count, what);
  all->so_far.warnings.push_back(fmt::format("{} and those beside it: {}", all->subjects[group.front()].name, what));
}

task<void> measure_group(shared_run all, indices group) {
  const holdings before = holdings_now();
  auto work = measure(all, group);
  auto cleanup = finish(all, group, before);
  std::string failure;
  try {
    co_await with_cleanup(std::move(work), finish_limit, std::move(cleanup));
  } catch (const std::system_error& thrown) {
    if (is_cancelled(thrown.code())) throw;
    failure = thrown.what();
  }
  if (failure.empty()) co_return;
  for (const auto index : group) note_failure(all->so_far.results[index], 1, "not finished in time: " + failure);
}

task<void> measure_all(shared_run all) {
  const auto executor = co_await asio::this_coro::executor;
  const asio::steady_timer first(executor);  // with which the io_context opens what it keeps
  for (const auto& group : groups_of(all->subjects)) {
    auto work = measure_group(all, group);
    co_await std::move(work);
  }
}

/// A ratio of other things would be no ratio. A base that is not there is none: half of a suite is measured like that.
void require_comparable(const running& all, const subject& one) {
  for (const auto& other : all.subjects) {
    const bool is_base =
        std::any_of(one.bases.begin(), one.bases.end(), [&](const base& to) { return to.name == other.name; });
    if (!is_base || (other.unit == one.unit && other.direction == one.direction)) continue;
    const auto words = fmt::format("{}: its base {} has another unit or direction", one.name, other.name);
    throw error(errc::invalid_argument, words);
  }
}

/// Throws for what cannot be measured.
void require_sound(const running& all) {
  std::set<std::string_view> names;
  for (const auto& each : all.subjects) {
    if (each.name.empty() || !each.sample) throw error(errc::invalid_argument, "a subject needs a name and a sample");
    if (!names.insert(each.name).second) throw error(errc::invalid_argument, "two subjects are called " + each.name);
  }
  for (const auto& each : all.subjects) require_comparable(all, each);
  if (all.how.runs.value_or(1) < 1) throw error(errc::invalid_argument, "runs: at least 1");
  if (all.how.warmup.value_or(0) < 0) throw error(errc::invalid_argument, "warmup: at least 0");
}

shared_run begin_run(std::vector<subject> subjects, options how) {
  auto all = std::make_shared<running>();
  all->subjects = std::move(subjects);
  all->how = std::move(how);
  require_sound(*all);
  all->so_far.machine = this_machine();
  for (std::size_t i = 0; i < all->subjects.size(); ++i) {
    const auto& each = all->subjects[i];
    result empty{.name = each.name, .unit = each.unit, .direction = each.direction, .limit = each.limit};
    for (const auto& to : each.bases) empty.ratios.push_back({.base = to.name, .bar = to.bar});
    all->so_far.results.push_back(std::move(empty));
    all->total += static_cast<std::size_t>(std::max(0, runs_of(*all, i)) + std::max(0, warmup_of(*all, i)));
  }
  return all;
}

task<report> run_whole(std::vector<subject> subjects, options how) {
  const auto all = begin_run(std::move(subjects), std::move(how));
  try {
    co_await measure_all(all);
  } catch (const std::system_error& failure) {
    if (!is_cancelled(failure.code())) throw;
    all->so_far.interrupted = true;
  }
  conclude(all->so_far);
  co_return std::move(all->so_far);
}

}  // namespace

task<report> run(std::vector<subject> subjects) { return run(std::move(subjects), options()); }

task<report> run(std::vector<subject> subjects, options how) { return run_whole(std::move(subjects), std::move(how)); }

}  // namespace berth::bench
