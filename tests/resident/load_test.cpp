#include "resident/client.hpp"

#include "support/proc_scan.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>

using namespace berth;
using namespace berth::test;
using wire::frame_type;

namespace {

std::size_t resident_kib(pid_t pid) {
  const std::string status = proc_file(pid, "status");
  return std::strtoul(status.c_str() + status.find("VmRSS:") + 6, nullptr, 10);
}

/// Sends without waiting; how many bytes were taken.
std::size_t offer(client& c, std::string_view bytes) {
  const ssize_t n = send(c.to(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return n < 0 ? 0 : static_cast<std::size_t>(n);
}

}  // namespace

TEST_CASE("load: a thousand framed commands at once") {
  rlimit own{};
  getrlimit(RLIMIT_NOFILE, &own);
  if (own.rlim_max < 6000) return skip("too few descriptors");
  client c;
  constexpr std::uint32_t count = 1000;
  for (std::uint32_t id = 1; id <= count; ++id)
    c.start(id, shell("read x; echo " + std::to_string(id), wire::start_input_pipe));
  for (std::uint32_t id = 1; id <= count; ++id) c.expect(frame_type::started, id);
  CHECK(resident_kib(c.pid()) < 16 * 1024);
  CHECK(burnt(c.pid()).count() < 10000);
  for (std::uint32_t id = 1; id <= count; ++id) {
    c.send(frame_type::input, id, "line\n");
    c.send(frame_type::input_end, id);
  }
  std::map<std::uint32_t, std::string> outputs;
  std::map<std::uint32_t, int> ends;
  std::uint32_t exits = 0;
  for (std::uint32_t done = 0; done < count;) {
    const auto f = c.next();
    REQUIRE(f);
    if (f->type() == frame_type::output) outputs[f->head.id] += f->payload;
    if (f->type() == frame_type::exited) ++exits;
    if (f->type() == frame_type::exited || f->type() == frame_type::output_end) done += ++ends[f->head.id] == 3 ? 1 : 0;
  }
  CHECK(exits == count);
  for (std::uint32_t id = 1; id <= count; ++id) CHECK(outputs[id] == std::to_string(id) + "\n");
}

TEST_CASE("congestion: an owner that does not read") {
  client c;
  // Ten commands, each with far more credit than anyone reads.
  for (std::uint32_t id = 1; id <= 10; ++id) {
    start_request request = child({"flood", "20000000"});
    request.credit = 1u << 30;
    c.run(id, request);
  }
  usleep(200000);
  CHECK(resident_kib(c.pid()) < 12 * 1024);
  CHECK(burnt(c.pid()).count() < 5000);

  SUBCASE("its starts wait until it reads, and memory stays bounded") {
    const std::string start = frame_bytes(frame_type::start, 99, 0, start_bytes(shell("exit 7")));
    c.send_raw(start);
    const std::string more =
        frame_bytes(frame_type::start, 98, 0, start_bytes({{"/bin/true", std::string(60000, 'x')}}));
    std::size_t taken = 0;
    for (int i = 0; i < 2000; ++i) {
      std::string_view left = more;
      for (std::size_t n = 1; n > 0 && !left.empty(); left.remove_prefix(n)) taken += n = offer(c, left);
      if (!left.empty()) break;
    }
    CHECK(taken < 20u << 20);
    usleep(100000);
    CHECK(resident_kib(c.pid()) < 12 * 1024);
    CHECK(tagged(c.nonce(), 99).empty());
    CHECK(burnt(c.pid()).count() < 5000);
    CHECK(c.expect_exit(99).wait_status == 7 << 8);
    for (std::uint32_t id = 1; id <= 10; ++id) CHECK(c.expect_exit(id).wait_status == 0);
  }
  SUBCASE("it is served on when it reads") {
    std::size_t bytes = 0;
    while (bytes < 200000000) {
      const auto f = c.next();
      REQUIRE(f);
      if (f->type() == frame_type::output) bytes += f->payload.size();
    }
    c.send_number(frame_type::ping, 0, 5);
    CHECK(c.expect(frame_type::pong).number() == 5);
  }
  SUBCASE("its hang-up is noticed") {
    c.start(99, shell("exit 7"));
    usleep(20000);
    c.hang_up();
    c.wait_end(milliseconds(2000));
  }
  SUBCASE("its commands can be killed") {
    c.send_number(frame_type::kill, 1, 0);
    CHECK(becomes([&] { return tagged(c.nonce(), 1).empty(); }));
  }
}

TEST_CASE("congestion: the same over pipes") {
  client c({.over = transport::pipes});
  for (std::uint32_t id = 1; id <= 4; ++id) {
    start_request request = child({"flood", "20000000"});
    request.credit = 1u << 30;
    c.run(id, request);
  }
  usleep(100000);
  CHECK(resident_kib(c.pid()) < 12 * 1024);
  CHECK(burnt(c.pid()).count() < 5000);
  c.start(99, shell("exit 7"));
  SUBCASE("read at last") { CHECK(c.expect_exit(99).wait_status == 7 << 8); }
  SUBCASE("hung up") {
    c.hang_up();
    c.wait_end(milliseconds(2000));
  }
}

TEST_CASE("congestion: too many descriptors under way wait, and nothing is lost") {
  if (geteuid() != 0) return skip("needs root, to become a user with nothing under way");
  const uid_t user = lone_user();
  client c({.before_exec = [user] {
    const rlimit files{60, 60};
    setrlimit(RLIMIT_NOFILE, &files);
    if (setgid(user) != 0 || setuid(user) != 0) _exit(125);
  }});
  constexpr std::uint32_t count = 60;
  // Handed over and never read: three descriptors each. The resident itself holds a few at a time only.
  std::uint32_t failed = 0;
  for (std::uint32_t id = 1; id <= count; ++id) {
    c.start(id, shell("echo $0; exit 0", wire::start_hand_over | wire::start_input_pipe));
    usleep(5000);
  }
  CHECK(burnt(c.pid()).count() < 30000);  // it tries again every 2 ms
  for (std::uint32_t id = 1; id <= count; ++id) {
    const auto f = c.next();
    REQUIRE(f);
    if (f->type() == frame_type::start_failed) ++failed;
    if (f->type() == frame_type::exited) --id;
    if (f->type() == frame_type::started) CHECK(f->fds.size() == 3);
  }
  CHECK(failed > 0);  // those for which no descriptors were left behind the ones that wait
  CHECK(failed < 40);
  CHECK(burnt(c.pid()).count() < 5000);
}

TEST_CASE("load: a large start, and memory is given back") {
  client c;
  start_request request{{"/bin/true"}};
  for (int i = 0; i < 70; ++i) request.argv.push_back(std::string(100 * 1024, 'x'));
  c.start(1, request);
  CHECK(c.expect_failure(1).error == E2BIG);
  c.run(2, shell("exit 0"));
  CHECK(resident_kib(c.pid()) < 4 * 1024);
}

TEST_CASE("load: three thousand commands one after the other leave nothing behind") {
  client c;
  const std::string fds = "/proc/" + std::to_string(c.pid()) + "/fd";
  const auto open_now = [&] {
    return std::distance(std::filesystem::directory_iterator(fds), std::filesystem::directory_iterator());
  };
  const auto run_some = [&](std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t id = first; id < first + count; ++id) {
      c.start(id, shell("echo x; exit 0", id % 2 == 0 ? wire::start_end_leftovers : wire::start_input_pipe));
      if (id % 20 == 19) {
        for (std::uint32_t each = id - 19; each <= id; ++each) c.expect_exit(each);
      }
    }
    c.send_number(frame_type::ping, 0, first);
    while (c.expect(frame_type::pong).number() != first) continue;
  };
  run_some(0, 200);
  const auto fds_before = open_now();
  const std::size_t before = resident_kib(c.pid());
  run_some(1000, 3000);
  CHECK(becomes([&] { return open_now() <= fds_before; }));
  CHECK(resident_kib(c.pid()) < before + 1024);
}

TEST_CASE("load: a busy stream does not starve the others") {
  client c;
  start_request request = child({"flood", "100000000000"});
  request.credit = 0xffffffff;
  for (std::uint32_t id = 1; id <= 8; ++id) {
    c.run(id, request);
    c.send_number(frame_type::credit, id, 1ull << 60, 1);
  }
  for (std::uint32_t id = 100; id < 120; ++id) {
    c.start(id, shell("exit 3"));
    for (auto f = c.next(); f; f = c.next())
      if (f->type() == frame_type::exited && f->head.id == id) break;
  }
  // Each goes on, however much the others have to say.
  std::map<std::uint32_t, std::size_t> seen;
  const auto all_heard = [&] {
    return seen.size() == 8 && std::all_of(seen.begin(), seen.end(), [](const auto& s) { return s.second > 100000; });
  };
  CHECK(becomes([&] {
    for (int i = 0; i < 500; ++i) {
      const auto f = c.next();
      if (f && f->type() == frame_type::output) seen[f->head.id] += f->payload.size();
    }
    return all_heard();
  }));
}
