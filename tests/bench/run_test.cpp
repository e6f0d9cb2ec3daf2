#include "core/task_group.hpp"
#include "support/async.hpp"

#include <berth/bench.hpp>
#include <berth/error.hpp>

#include <fcntl.h>
#include <unistd.h>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <memory>
#include <stdexcept>
#include <string>

using namespace berth;
using namespace berth::bench;

namespace {

using shared_text = std::shared_ptr<std::string>;

task<double> note(shared_text turns, char letter) {
  *turns += letter;
  co_return 1.0;
}

task<void> note_only(shared_text turns, char letter) {
  *turns += letter;
  co_return;
}

/// Notes its turns.
subject noted(std::string name, std::string base, shared_text turns) {
  const char letter = name.front();
  subject one{
      .name = std::move(name), .runs = 2, .warmup = 1, .sample = [turns, letter] { return note(turns, letter); }};
  if (!base.empty()) one.bases.push_back({std::move(base)});
  return one;
}

task<double> fail_second(std::shared_ptr<int> turn) {
  if (++*turn == 2) throw std::runtime_error("a bad turn");
  co_return 3.0;
}

task<double> always_fail() {
  throw std::runtime_error("never works");
  co_return 0;
}

task<double> wait_long(std::shared_ptr<int> turn) {
  if (++*turn <= 2) co_return 5.0;
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor);
  timer.expires_after(std::chrono::hours(1));
  co_await timer.async_wait(asio::use_awaitable);
  co_return 5.0;
}

task<double> never_wait() { co_return 1.0; }

task<double> leak(std::shared_ptr<int> fd) {
  if (*fd < 0) *fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  co_return 1.0;
}

task<void> run_into(std::vector<subject> subjects, std::shared_ptr<report> into) {
  *into = co_await run(std::move(subjects));
}

task<report> run_cancelled(std::vector<subject> subjects) {
  const auto executor = co_await asio::this_coro::executor;
  auto seen = std::make_shared<report>();
  task_group group(executor);
  group.spawn(run_into(std::move(subjects), seen));
  asio::steady_timer timer(executor);
  timer.expires_after(std::chrono::milliseconds(50));
  co_await timer.async_wait(asio::use_awaitable);
  group.cancel();
  co_await group.join();
  co_return std::move(*seen);
}

}  // namespace

ASYNC_TEST("run: what is compared takes turns, and warm-up rounds leave no sample") {
  auto turns = std::make_shared<std::string>();
  std::vector<subject> subjects = {noted("a", "", turns), noted("x", "", turns), noted("b", "a", turns)};
  const auto report = co_await run(std::move(subjects));
  CHECK(*turns == "abababxxx");
  CHECK(report.results.at(0).numbers.n == 2);
  CHECK(report.results.at(2).ratios.at(0).value == 1.0);
  CHECK(report.ok());
}

ASYNC_TEST("run: options win over the subject's own counts, and progress is told") {
  auto turns = std::make_shared<std::string>();
  std::vector<subject> subjects = {noted("a", "", turns)};
  std::size_t told = 0;
  options how{.runs = 4, .warmup = 0, .on_progress = [&](const progress& now) {
                CHECK(now.done == told++);
                CHECK(now.total == 4);
                CHECK(now.name == "a");
              }};
  co_await run(std::move(subjects), std::move(how));
  CHECK(*turns == "aaaa");
  CHECK(told == 4);
}

ASYNC_TEST("run: prepare comes first and finish last, also where every sample fails") {
  auto turns = std::make_shared<std::string>();
  auto one = noted("a", "", turns);
  one.prepare = [turns] { return note_only(turns, '<'); };
  one.finish = [turns] { return note_only(turns, '>'); };
  auto failing = one;
  failing.name = "b";
  failing.sample = always_fail;
  std::vector<subject> subjects = {std::move(one), std::move(failing)};
  const auto report = co_await run(std::move(subjects));
  CHECK(*turns == "<aaa><>");
  CHECK(report.results.at(1).failures == 3);
}

ASYNC_TEST("run: what fails is counted, and the sample is missing") {
  auto turn = std::make_shared<int>(0);
  std::vector<subject> subjects(1);
  subjects[0] = {.name = "x", .runs = 4, .warmup = 0, .sample = [turn] { return fail_second(turn); }};
  const auto report = co_await run(std::move(subjects));
  CHECK(!report.ok());
  CHECK(report.results.at(0).failures == 1);
  CHECK(report.results.at(0).first_failure == "a bad turn");
  CHECK(report.results.at(0).numbers.n == 3);
}

ASYNC_TEST("run: what never works is given up") {
  std::vector<subject> subjects(1);
  subjects[0] = {.name = "x", .runs = 1000, .sample = always_fail};
  const auto report = co_await run(std::move(subjects));
  CHECK(report.results.at(0).failures == 10);
  CHECK(report.results.at(0).given_up);
}

ASYNC_TEST("run: what is left behind is a failure") {
  auto fd = std::make_shared<int>(-1);
  std::vector<subject> subjects(1);
  subjects[0] = {.name = "x", .runs = 3, .sample = [fd] { return leak(fd); }};
  const auto report = co_await run(std::move(subjects));
  ::close(*fd);
  CHECK(report.results.at(0).failures == 1);
  CHECK(report.results.at(0).first_failure == "left behind: 1 descriptors, 0 child processes");
}

ASYNC_TEST("run: one that is cancelled gives what came, and finishes") {
  auto turn = std::make_shared<int>(0);
  auto turns = std::make_shared<std::string>();
  std::vector<subject> subjects(1);
  subjects[0] = {.name = "x",
                 .warmup = 0,
                 .sample = [turn] { return wait_long(turn); },
                 .finish = [turns] { return note_only(turns, '>'); }};
  const auto report = co_await run_cancelled(std::move(subjects));
  CHECK(report.interrupted);
  CHECK(report.ok());
  CHECK(report.results.at(0).numbers.n == 2);
  CHECK(*turns == ">");
}

ASYNC_TEST("run: subjects that never wait can be cancelled too") {
  std::vector<subject> subjects(1);
  subjects[0] = {.name = "x", .runs = 1'000'000'000, .sample = never_wait};
  const auto report = co_await run_cancelled(std::move(subjects));
  CHECK(report.interrupted);
  CHECK(report.results.at(0).numbers.n > 0);
}

namespace {

task<bool> is_refused(std::vector<subject> subjects, options how) {
  auto measuring = run(std::move(subjects), std::move(how));  // does not throw yet
  try {
    (void)co_await std::move(measuring);
  } catch (const error& failure) {
    co_return failure.code() == errc::invalid_argument;
  }
  co_return false;
}

}  // namespace

ASYNC_TEST("run: subjects that cannot be are refused by the task, not by the call") {
  subject sound{.name = "x", .sample = never_wait};
  subject nameless = sound;
  nameless.name = "";
  subject empty{.name = "x"};
  subject rate{.name = "y", .bases = {{"x"}}, .direction = better::more, .sample = never_wait};
  subject other_unit{.name = "y", .bases = {{"x"}}, .unit = "ms", .sample = never_wait};
  const std::vector<std::vector<subject>> bad = {
      {nameless}, {empty}, {sound, sound}, {sound, rate}, {sound, other_unit}};
  for (const auto& each : bad) {
    auto subjects = each;
    const bool refused = co_await is_refused(std::move(subjects), options());
    CHECK(refused);
  }
  std::vector<subject> one = {sound};
  options none{.runs = 0};
  const bool refused = co_await is_refused(std::move(one), std::move(none));
  CHECK(refused);
}
