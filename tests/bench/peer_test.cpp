#include "suite/peer.hpp"

#include "suite/suite.hpp"
#include "support/async.hpp"
#include "support/temp_dir.hpp"

#include <berth/error.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

using namespace berth;
using namespace berth::suite;
using namespace berth::test;

namespace {

using namespace std::chrono_literals;

/// A peer that is this shell text; "answer" in it takes a request and answers it.
shared_peer peer_of(asio::io_context& io, const std::string& text, std::string name = "shell") {
  peer_program what{.name = std::move(name), .folder = "/", .works = {{.bench = "exec"}}};
  what.run = {"/bin/sh", "-c", R"(answer() { read -r request && echo "ok $1"; }; )" + text};
  return std::make_shared<peer>(io, std::move(what));
}

template <class Result>
task<std::string> failure_of(task<Result> work) {
  std::string told;
  try {
    (void)co_await std::move(work);
  } catch (const std::runtime_error& failure) {
    told = failure.what();
  }
  co_return told;
}

/// Opens the peer, asks it as often, and gives what went wrong first; empty if nothing did.
task<std::string> first_failure(shared_peer its, int requests = 1) {
  auto told = co_await failure_of(open_peer(its));
  for (int i = 0; told.empty() && i < requests; ++i) told = co_await failure_of(ask_peer(its, "exec\t1\t/bin/true"));
  co_return told;
}

task<double> one() { co_return 1.0; }

task<void> come(shared_site site, std::shared_ptr<int> open) {
  site->host = "tcp://there:1";
  ++*open;
  co_return;
}

task<void> go(std::shared_ptr<int> open) {
  --*open;
  co_return;
}

}  // namespace

ASYNC_TEST("peer: it greets, and answers each request by its own clock") {
  const auto its = peer_of(io, "echo peer Shell 1; answer 1500; answer 2000000; cat");
  co_await open_peer(its);
  CHECK(its->version == "Shell 1");
  const double first = co_await ask_peer(its, "exec\t1\t/bin/true");
  CHECK(first == 1.5);
  const double second = co_await ask_peer(its, "exec\t1\t/bin/true");
  CHECK(second == 2000);
  co_await close_peer(its);
}

ASYNC_TEST("peer: it gets the request as a line of words between tabs") {
  const auto its =
      peer_of(io, R"(echo peer x; read -r line; [ "$line" = "stream	5	a	b c" ] && echo ok 1)");
  co_await open_peer(its);
  const double micros = co_await ask_peer(its, "stream\t5\ta\tb c");
  CHECK(micros == 0.001);
  co_await close_peer(its);
}

ASYNC_TEST("peer: an answer that comes in pieces, and complaints between, are no trouble") {
  const auto its = peer_of(io, "printf pe; echo hm >&2; echo er x; read -r line; printf 'ok 3'; sleep 0.02; echo 000");
  co_await open_peer(its);
  const double micros = co_await ask_peer(its, "exec");
  CHECK(micros == 3);
  co_await close_peer(its);
}

ASYNC_TEST("peer: what it says went wrong is told, and it can be asked again") {
  const auto its = peer_of(io, "echo peer x; read -r line; echo error no such thing; answer 1000; cat");
  const auto told = co_await first_failure(its);
  CHECK(told == "no such thing");
  const double micros = co_await ask_peer(its, "exec");
  CHECK(micros == 1);
  co_await close_peer(its);
}

ASYNC_TEST("peer: one that ends is told of with its last words, each time") {
  const auto its = peer_of(io, "echo peer x; answer 1; echo no more >&2; echo of this >&2; exit 3");
  auto told = co_await first_failure(its, 2);
  CHECK(told == "it has ended: exited with 3: no more of this");
  told = co_await failure_of(ask_peer(its, "exec"));
  CHECK(told == "it has ended: exited with 3: no more of this");
  co_await close_peer(its);
}

ASYNC_TEST("peer: one that ends before it greets, or is not there, is told of") {
  auto its = peer_of(io, "echo where is my library >&2; exit 1");
  auto told = co_await first_failure(its);
  CHECK(told == "it has ended: exited with 1: where is my library");
  co_await close_peer(its);
  its->program.run = {"/nowhere/at/all"};
  told = co_await first_failure(its);
  CHECK(told.find("/nowhere/at/all") != std::string::npos);
  co_await close_peer(its);
}

ASYNC_TEST("peer: rubbish ends it, and so does an error in place of the greeting") {
  const std::pair<const char*, const char*> cases[] = {
      {"echo hello; cat", "it greets with rubbish: hello"},
      {"echo error too old; cat", "too old"},
      {"echo peer x; read -r line; printf 'a\\tb\\n'; cat", "it answers rubbish: a b"},
      {"echo peer x; answer 12x; cat", "it answers rubbish: ok 12x"},
      {"echo peer x; answer 0; cat", "it answers rubbish: ok 0"},
      {"echo peer x; answer -5; cat", "it answers rubbish: ok -5"},
      {"echo peer x; read -r line; echo; cat", "it answers rubbish: "},
  };
  for (const auto& [text, sentence] : cases) {
    const auto its = peer_of(io, text);
    auto told = co_await first_failure(its);
    CHECK(told == sentence);
    told = co_await failure_of(ask_peer(its, "exec"));
    CHECK(told == sentence);
    co_await close_peer(its);
  }
}

ASYNC_TEST("peer: one that answers twice is ended before the second answer is taken for the next") {
  const auto its = peer_of(io, "echo peer x; read -r line; printf 'ok 1000\\nok 5\\n'; cat");
  co_await open_peer(its);
  const double first = co_await ask_peer(its, "exec");
  CHECK(first == 1);
  const auto told = co_await failure_of(ask_peer(its, "exec"));
  CHECK(told == "it talks unasked: ok 5");
  co_await close_peer(its);
}

ASYNC_TEST("peer: one that floods without a line is rubbish too") {
  const auto its = peer_of(io, "exec yes | tr -d '\\n'");
  const auto told = co_await first_failure(its);
  CHECK(told.starts_with("it greets with rubbish: yyyy"));
  CHECK(told.size() < 400);
  co_await close_peer(its);
}

ASYNC_TEST("peer: silence has an end") {
  for (const char* text : {"exec sleep 1000", "echo peer x; exec sleep 1000"}) {
    const auto its = peer_of(io, text);
    its->patience = 300ms;
    auto told = co_await first_failure(its);
    CHECK(told == "it was silent for 0.3 s");
    told = co_await failure_of(ask_peer(its, "exec"));
    CHECK(told != "");
    co_await close_peer(its);
  }
}

ASYNC_TEST("peer: one that failed can be opened anew") {
  const auto its = peer_of(io, "echo peer x; answer 1000");
  auto told = co_await first_failure(its, 2);
  CHECK(told.starts_with("it has ended"));
  co_await close_peer(its);
  told = co_await first_failure(its);
  CHECK(told == "");
  co_await close_peer(its);
}

ASYNC_TEST("peers: the bad ones are told of, and the run goes on") {
  subjects all;
  all.push_back({.name = "exec/host", .runs = 3, .warmup = 1, .sample = one});
  all.push_back({.name = "exec/curve-1", .runs = 1, .sample = one});
  const auto silent = peer_of(io, "exec sleep 1000", "silent");
  silent->patience = 300ms;
  add_peers(all, {peer_of(io, "echo peer x; while answer 2000; do :; done", "good"),
                  peer_of(io, "echo peer x; answer 2000; answer 2000; exit 7", "short"), silent});
  REQUIRE(all.size() == 5);
  CHECK(all[1].name == "exec/good");
  CHECK(all[0].bases.size() == 3);
  const auto report = co_await bench::run(std::move(all));
  const auto& results = report.results;
  CHECK(results[0].numbers.n == 3);
  CHECK(results[0].failures == 0);
  REQUIRE(results[0].ratios.size() == 2);
  CHECK(results[0].ratios[0].base == "exec/good");
  CHECK(results[0].ratios[0].value == 0.5);
  CHECK(results[1].samples == std::vector<double>{2, 2, 2});
  CHECK(results[2].numbers.n == 1);
  CHECK(results[2].failures == 2);
  CHECK(results[2].first_failure == "it has ended: exited with 7");
  CHECK(results[3].numbers.n == 0);
  CHECK(results[3].first_failure == "it was silent for 0.3 s");
  CHECK(results[4].numbers.n == 1);
}

ASYNC_TEST("peers: the time becomes the unit of each bench") {
  const std::pair<const char*, double> of_a_second[] = {
      {"exec", 1e6}, {"exec64", 64}, {"stream", 1073.741824}, {"first-byte", 1e6}, {"pty", 50e3}};
  const auto its = peer_of(io, "echo peer x; while answer 1000000000; do :; done");
  its->program.works.clear();
  subjects all;
  for (const auto& [name, value] : of_a_second) {
    const bool is_rate = value < 1e4;
    its->program.works.push_back({.bench = name});
    all.push_back({.name = std::string(name) + "/host",
                   .direction = is_rate ? bench::better::more : bench::better::less,
                   .runs = 1,
                   .warmup = 0,
                   .sample = one});
  }
  add_peers(all, {its});
  const auto report = co_await bench::run(std::move(all));
  REQUIRE(report.results.size() == 10);
  for (std::size_t i = 0; i < 5; ++i) {
    CAPTURE(of_a_second[i].first);
    CHECK(report.results[2 * i + 1].numbers.p50 == doctest::Approx(of_a_second[i].second));
  }
}

ASYNC_TEST("peers: one of containers gets the name of ours, which is open, and the daemon") {
  const auto site = std::make_shared<docker_site>();
  site->container = "box";
  const auto its = peer_of(io, "echo peer x; while answer 2000; do :; done", "mine");
  its->program.works = {{.bench = "docker-exec", .bar = 0.5}};
  const auto open = std::make_shared<int>(0);
  subjects all{{.name = "exec/docker", .runs = 2, .warmup = 0, .sample = one}};
  all[0].prepare = [site, open] { return come(site, open); };
  all[0].finish = [open] { return go(open); };
  add_peers(all, {its}, site);
  REQUIRE(all.size() == 2);
  CHECK(all[1].name == "exec/docker-mine");
  CHECK(row_of("docker-exec", "docker-cli").name == "exec/docker-cli");
  CHECK(row_of("exec", "x").ours == "exec/host");
  const auto report = co_await bench::run(std::move(all));
  CHECK(*open == 0);
  CHECK(its->env.front().second == "tcp://there:1");
  CHECK(report.results[1].samples == std::vector<double>{2, 2});
  CHECK(report.results[0].ratios.front().bar == 0.5);
}

ASYNC_TEST("peers: one named like another bench, or like another peer, is refused") {
  subjects all{{.name = "exec/floor"}, {.name = "exec/host"}};
  CHECK_THROWS_AS(add_peers(all, {peer_of(io, "", "floor")}), error);
  CHECK_THROWS_AS(add_peers(all, {peer_of(io, "", "one"), peer_of(io, "", "one")}), error);
  CHECK(all.size() == 2);
  co_return;
}

ASYNC_TEST("peers: a bench that is none for peers is refused") {
  const auto its = peer_of(io, "");
  its->program.works = {{.bench = "exce"}};
  subjects all;
  CHECK_THROWS_AS(add_peers(all, {its}), error);
  co_return;
}
