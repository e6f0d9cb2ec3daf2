/// A daemon that is stopped and started again.
#include "docker/places.hpp"
#include "support/running.hpp"
#include "support/waiting.hpp"

#include <berth/process_context.hpp>

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::test;
using namespace std::chrono_literals;

namespace {

/// The daemon of one test.
class own_daemon {
 public:
  own_daemon(context host, handle where, process running)
      : host_(std::move(host)), where_(std::move(where)), running_(std::move(running)) {}

  static task<std::unique_ptr<own_daemon>> start(asio::io_context& io, std::string option) {
    context host = make_process_context(io);
    handle where = co_await host.spawn();
    std::vector<std::string> words{variable("BERTH_TEST_OWN_DAEMON")};
    if (!option.empty()) words.push_back(option);
    command what(words);
    what.input_stream();
    process running = co_await host.exec_stream(where, std::move(what));
    auto made = std::make_unique<own_daemon>(std::move(host), std::move(where), std::move(running));
    const std::string line = co_await answer(*made);
    REQUIRE_MESSAGE(line.starts_with("ready "), line);
    made->url_ = line.substr(6, line.size() - 7);
    co_return made;
  }

  const std::string& url() const noexcept { return url_; }
  std::vector<daemon_address> addresses() const { return {daemon_address{url_, "the test", std::nullopt}}; }

  static task<void> tell(own_daemon& self, std::string what, std::string expected) {
    co_await self.running_.write(what + "\n");
    const std::string line = co_await answer(self);
    REQUIRE_MESSAGE(line.starts_with(expected), line);
  }

  static task<void> end(own_daemon& self) {
    co_await self.running_.close_stdin();
    const exit_status status = co_await self.running_.wait();
    CHECK_MESSAGE(status.ok(), describe(status));
    co_await self.host_.destroy(self.where_);
  }

 private:
  static task<std::string> answer(own_daemon& self) {
    std::string line;
    while (line.find('\n') == line.npos) {
      const auto piece = co_await self.running_.next();
      if (!piece) break;
      line += piece->bytes();
    }
    co_return line;
  }

  context host_;
  handle where_;
  process running_;
  std::string url_;
};

/// One command that lives through it, and one that waits.
task<void> try_restart_alive(asio::io_context& io, bool try_socket) {
  const auto daemon = co_await own_daemon::start(io, "--live-restore");
  context place = make_place(io, small_container(daemon->url()), try_socket);
  const handle where = co_await place.spawn();
  const char* const counts = "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.5; done";
  auto counting = running(io.get_executor(), place.exec(where, command(counts).timeout(60s)));
  co_await own_daemon::tell(*daemon, "stop", "stopped");
  auto begun_meanwhile = running(io.get_executor(), place.exec(where, command("echo meanwhile").timeout(60s)));
  co_await own_daemon::tell(*daemon, "start", "ready");
  const exec_result counted = co_await counting.result();
  CHECK_MESSAGE(counted.status.ok(), describe(counted.status));
  CHECK(counted.std_out == "1\n2\n3\n4\n5\n6\n7\n8\n");
  const exec_result meanwhile = co_await begun_meanwhile.result();
  CHECK(meanwhile.std_out == "meanwhile\n");
  const exec_result after = co_await place.exec(where, command("echo after; exit 3"));
  CHECK(after.std_out == "after\n");
  CHECK(after.status.code() == 3);
  co_await place.destroy(where);
  const auto left = co_await containers_of_test(io, daemon->addresses());
  CHECK(left.empty());
  co_await own_daemon::end(*daemon);
}

/// As docs/docker.md has it: whether the daemon could still say so is luck.
bool is_told_as_stopped(const std::string& message) {
  return message.find("the container was ended through its daemon (signal ") != message.npos ||
         message.find("the container ended while there was no connection to its daemon") != message.npos ||
         message.find("the container is out of reach: no connection to ") != message.npos;
}

task<void> try_restart_dead(asio::io_context& io, bool try_socket) {
  const auto daemon = co_await own_daemon::start(io, "");
  context place = make_place(io, small_container(daemon->url()), try_socket);
  const handle where = co_await place.spawn();
  auto sleeping = running(io.get_executor(), place.exec(where, command("sleep 1000").timeout(100s)));
  co_await own_daemon::tell(*daemon, "stop", "stopped");
  co_await own_daemon::tell(*daemon, "start", "ready");
  const exec_result lost = co_await sleeping.result();
  CHECK(lost.status.reason() == end_reason::lost);
  CHECK_MESSAGE(is_told_as_stopped(lost.status.message()), lost.status.message());
  co_await place.destroy(where);
  const auto left = co_await containers_of_test(io, daemon->addresses());
  CHECK(left.empty());
  co_await own_daemon::end(*daemon);
}

/// A deadline does not wait for the daemon to come back.
task<void> try_deadline(asio::io_context& io) {
  const auto daemon = co_await own_daemon::start(io, "--live-restore");
  context place = make_place(io, small_container(daemon->url()), false);
  const handle where = co_await place.spawn();
  process sleeping = co_await place.exec_stream(where, command("echo begun; sleep 1000").timeout(15s));
  const auto begun = co_await sleeping.next();
  REQUIRE(begun.has_value());
  co_await own_daemon::tell(*daemon, "stop", "stopped");
  const exit_status late = co_await sleeping.wait();
  CHECK(late.reason() == end_reason::lost);
  CHECK_MESSAGE(late.message().find("no connection") != std::string::npos, late.message());
  co_await own_daemon::tell(*daemon, "start", "ready");
  const exec_result after = co_await place.exec(where, command("echo after").timeout(60s));
  CHECK(after.std_out == "after\n");
  co_await place.destroy(where);
  co_await own_daemon::end(*daemon);
}

}  // namespace

DOCKER_TEST("restart: with live-restore commands go on, their pipes handed over") {
  co_await try_restart_alive(io, true);
}
DOCKER_TEST("restart: with live-restore commands go on, over frames") { co_await try_restart_alive(io, false); }
DOCKER_TEST("restart: without live-restore commands are lost, seen over a handed socket") {
  co_await try_restart_dead(io, true);
}
DOCKER_TEST("restart: without live-restore commands are lost, seen over frames") {
  co_await try_restart_dead(io, false);
}
DOCKER_TEST("restart: a deadline answers while the daemon is away") { co_await try_deadline(io); }
