/// What a pull tells on the command line, and `berth doctor` with a daemon.
#include "cli/program.hpp"
#include "cli/terminal_session.hpp"
#include "docker/container.hpp"
#include "docker/left_containers.hpp"
#include "docker/real_daemon.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <random>

using namespace berth;
using namespace berth::test;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

task<void> send_all(std::shared_ptr<docker_engine> engine, http::request what) {
  auto reply = co_await engine->open(std::move(what));
  for (;;) {
    const std::string piece = co_await reply->next();
    if (piece.empty()) co_return;
  }
}

std::string random_bytes(std::size_t size) {
  std::mt19937_64 numbers(std::random_device{}());
  std::string bytes;
  while (bytes.size() < size) bytes += std::to_string(numbers());
  return bytes;
}

/// An image with one file that no other has, in the registry and not with the daemon: its name.
task<std::string> push_new_image(asio::io_context& io, std::vector<daemon_address> daemon, std::string tag,
                                 std::size_t size = std::size_t{3} << 20) {
  auto connecting = docker_engine::connect(io.get_executor(), std::move(daemon));
  const auto engine = co_await std::move(connecting);
  const std::string repository = variable("BERTH_TEST_REGISTRY") + "/test/pull";
  http::query_builder import;
  import.add("fromSrc", "-").add("repo", repository).add("tag", tag);
  http::request making = engine->make_request("POST", import.behind("/images/create"));
  making.body(tar_of_file("content", random_bytes(size), 0644), "application/x-tar");
  auto sending = send_all(engine, std::move(making));
  co_await std::move(sending);
  http::request pushing = engine->make_request("POST", "/images/" + repository + "/push?tag=" + tag);
  pushing.body("", "application/json").header("X-Registry-Auth", "e30=");
  sending = send_all(engine, std::move(pushing));
  co_await std::move(sending);
  co_await engine->ask("DELETE", "/images/" + repository + ":" + tag + "?force=1");
  co_return repository + ":" + tag;
}

words list_of(const std::vector<daemon_address>& daemon, const std::string& image) {
  return {"ls", "--image", image, "--docker-host", daemon.front().url, "--network", "none", "/"};
}

/// A port where connections are taken and nothing is ever said.
class silent_port {
 public:
  silent_port() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(fd_, 8) == 0);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    number_ = ntohs(address.sin_port);
  }
  silent_port(const silent_port&) = delete;
  silent_port& operator=(const silent_port&) = delete;
  ~silent_port() { ::close(fd_); }

  std::string text() const { return "127.0.0.1:" + std::to_string(number_); }

 private:
  int fd_;
  int number_ = 0;
};

}  // namespace

DOCKER_TEST("cli pulls: a missing image comes, with plain lines where standard error is no terminal") {
  auto pushing = push_new_image(io, daemon, "lines");
  const std::string image = co_await std::move(pushing);
  const auto done = berth_ends(list_of(daemon, image));
  CHECK(done.code == 0);
  CHECK(has(done.out, "content\n"));
  CHECK(done.err.find("berth: ls: pulling " + image + "\n") == 0);
  CHECK(has(done.err, "berth: ls: pulled " + image + ": "));
  CHECK(has(done.err, " MB, 1 layer in "));
  CHECK(!has(done.err, "\x1b"));
  CHECK(count_lines(done.err) <= 30);
  const auto again = berth_ends(list_of(daemon, image));
  CHECK(again.err == "");
}

DOCKER_TEST("cli pulls: on a terminal a bar, which goes when the image is there") {
  constexpr std::size_t takes_its_time = std::size_t{20} << 20;
  auto pushing = push_new_image(io, daemon, "bar", takes_its_time);
  const std::string image = co_await std::move(pushing);
  terminal_session session("\"$0\" ls --image " + image + " --network none --docker-host " + daemon.front().url +
                           " /; echo e''nd");
  CHECK(session.shows("end"));
  const std::string& screen = session.screen();
  CHECK(has(screen, "\r\x1b[K"));
  CHECK(has(screen, " [##"));
  CHECK(has(screen, "of 1 layers"));
  const auto last = screen.rfind("\r\x1b[K");
  CHECK(has(screen.substr(last), "content"));
  CHECK(!has(screen.substr(last), "layers"));
}

DOCKER_TEST("cli pulls: events") {
  auto pushing = push_new_image(io, daemon, "events");
  const std::string image = co_await std::move(pushing);
  const auto done = berth_ends({"exec", "--json", "--image", image, "--docker-host", daemon.front().url, "/nosuch"});
  CHECK(done.code == 127);
  CHECK(done.err.find("pull") == std::string::npos);
  CHECK(done.out.find(R"({"type":"pull","image":")" + image) == 0);
  CHECK(has(done.out, R"("status":"Pull complete")"));
  CHECK(has(done.out, R"("type":"result","reason":"start_failed")"));
}

DOCKER_TEST("cli pulls: an interrupt ends one that does not get on") {
  const silent_port port;
  const words arguments{"exec", "--docker-host", daemon.front().url, "--image", port.text() + "/test/x:1", "true"};
  program run(arguments);
  co_await pause_for(std::chrono::milliseconds(500));
  run.signal(SIGINT);
  const auto done = run.end();
  CHECK(done.code == -SIGINT);
  CHECK(done.out == "");
}

DOCKER_TEST("cli pulls: control C ends one that a shell waits for, and the terminal was never touched") {
  const silent_port port;
  terminal_session session("trap : INT; echo beg''in; \"$0\" shell --docker-host " + daemon.front().url + " --image " +
                           port.text() + "/test/x:1; echo code $?; stty -a | grep -Eq '(^| )isig' && echo isi''g");
  CHECK(session.shows("begin"));
  co_await pause_for(std::chrono::milliseconds(500));
  session.type("\x03");
  CHECK(session.shows("code 130"));
  CHECK(session.shows("isig"));
}

DOCKER_TEST("cli pulls: what the registry refuses is one line") {
  const auto done = berth_ends({"exec", "--docker-host", daemon.front().url, "--image",
                                variable("BERTH_TEST_REGISTRY") + "/test/none:1", "true"});
  CHECK(done.code == 125);
  CHECK(done.err.find("berth: exec: image '") == 0);
  CHECK(has(done.err, "could not be pulled"));
  CHECK(count_lines(done.err) == 1);
  const auto other = berth_ends({"exec", "--docker-host", daemon.front().url, "--platform", "linux/other", "--pull",
                                 "always", "--image", variable("BERTH_TEST_REGISTRY") + "/test/busybox:1", "true"});
  CAPTURE(other.err);
  CHECK(other.code == 125);
  CHECK(has(other.err, "does not match the specified platform: wanted linux/other"));
  co_return;
}

DOCKER_TEST("doctor: the daemon, and a container of the image that is named or there") {
  const auto found = berth_ends({"doctor", "--docker-host", daemon.front().url});
  CHECK(found.code == 0);
  CHECK(has(found.out, "ok       docker            Docker "));
  CHECK(has(found.out, daemon.front().url));
  CHECK(has(found.out, "ok       containers        one of "));
  const auto named = berth_ends({"doctor", "--docker-host", daemon.front().url, "--image", "test/busybox:1"});
  CHECK(has(named.out, "ok       containers        one of test/busybox:1 starts in "));
  const auto other = berth_ends({"doctor", "--docker-host", daemon.front().url, "--image", "test/other-arch:1"});
  CHECK(other.code == 0);
  CHECK(has(other.out, "limited  containers"));
  auto counting = containers_of(io, daemon, 0);
  CHECK(co_await std::move(counting) == 0);
}
