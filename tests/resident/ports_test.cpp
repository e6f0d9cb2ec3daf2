#include "resident/client.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace berth;
using namespace berth::test;
using wire::frame_type;

namespace {

using port_list = std::vector<int>;

start_request listener(std::vector<std::string> words, std::uint32_t flags = 0) {
  words.insert(words.begin(), BERTH_TEST_PROGRAMS "/listener");
  return {std::move(words), flags | wire::start_input_pipe};
}

/// The numbers behind "ports", as the listener says them, ascending.
port_list said(const std::string& text) {
  port_list all;
  const auto at = text.find("ports");
  REQUIRE(at != text.npos);
  const std::string line = text.substr(at + 5, text.find('\n', at) - at - 5);
  const char* rest = line.c_str();
  for (char* end = nullptr; const long port = std::strtol(rest, &end, 10); rest = end)
    all.push_back(static_cast<int>(port));
  std::sort(all.begin(), all.end());
  return all;
}

port_list ports_of(client& c, std::uint32_t id) {
  c.send(frame_type::ports, id);
  const frame answer = c.expect(frame_type::port_list, id);
  wire::reader fields(answer.payload);
  port_list all;
  for (std::uint32_t left = fields.u32(); left > 0 && fields.ok(); --left) all.push_back(fields.u16());
  CHECK(fields.done());
  return all;
}

/// Starts it, framed, and gives the ports that it says.
port_list started(client& c, std::uint32_t id, const start_request& request) {
  c.run(id, request);
  return said(c.output(id, wire::stream::out, "\n"));
}

}  // namespace

TEST_CASE("ports: what the first process listens on, and no more once it is closed") {
  client c;
  const port_list listens = started(c, 1, listener({"two"}));
  REQUIRE(listens.size() == 2);
  CHECK(ports_of(c, 1) == listens);
  c.send(frame_type::input, 1, "close\n");
  c.output(1, wire::stream::out, "closed");
  const port_list left = ports_of(c, 1);
  REQUIRE(left.size() == 1);
  CHECK(std::find(listens.begin(), listens.end(), left.front()) != listens.end());
  c.send(frame_type::input, 1, "close\n");
  c.output(1, wire::stream::out, "closed");
  CHECK(ports_of(c, 1).empty());
}

TEST_CASE("ports: of a grandchild, also in a session of its own") {
  client c;
  const port_list below = started(c, 1, listener({"child"}));
  const port_list away = started(c, 2, listener({"session"}));
  CHECK(below.size() == 1);
  CHECK(ports_of(c, 1) == below);
  CHECK(ports_of(c, 2) == away);
}

TEST_CASE("ports: none of a command that does not listen, of one that is unknown, or of others") {
  client c;
  const port_list listens = started(c, 1, listener({}));
  c.run(2, shell("exec sleep 60"));
  CHECK(ports_of(c, 2).empty());
  CHECK(ports_of(c, 77).empty());
  CHECK(ports_of(c, 1) == listens);
  CHECK(ports_of(c, 0x7fffffff).empty());
}

TEST_CASE("ports: of an ended command, what it left") {
  client c;
  const port_list listens = started(c, 1, listener({"left"}));
  c.expect_exit(1);
  CHECK(ports_of(c, 1) == listens);
  c.send_number(frame_type::kill, 1, 0);
  c.expect(frame_type::tree_ended, 1);
  CHECK(ports_of(c, 1).empty());
}

TEST_CASE("ports: of a command whose pipes were handed over") {
  client c;
  c.start(1, listener({}, wire::start_hand_over));
  const frame begun = c.expect(frame_type::started, 1);
  std::string text;
  for (char byte = 0; byte != '\n' && read(begun.fds.at(1).get(), &byte, 1) == 1;) text += byte;
  CHECK(ports_of(c, 1) == said(text));
}

TEST_CASE("ports: of IPv6") {
  client c;
  const port_list listens = started(c, 1, listener({"6"}));
  if (listens.empty()) return skip("no IPv6 here");
  CHECK(ports_of(c, 1) == listens);
}

TEST_CASE("ports: a connection is no listener") {
  client c;
  const port_list listens = started(c, 1, listener({}));
  REQUIRE(listens.size() == 1);
  const std::string connect =
      "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(listens.front()) + "; echo open; exec sleep 60";
  c.run(2, {{"/bin/bash", "-c", connect}});
  c.output(2, wire::stream::out, "open");
  CHECK(ports_of(c, 2).empty());
  CHECK(ports_of(c, 1) == listens);
}

TEST_CASE("ports: in a network namespace of its own") {
  if (geteuid() != 0) return skip("needs root, to make a network namespace");
  client c;
  const std::string inside = "ip link set lo up 2>/dev/null; exec " BERTH_TEST_PROGRAMS "/listener";
  start_request request{{"/usr/bin/unshare", "--net", "/bin/sh", "-c", inside}, wire::start_input_pipe};
  c.run(1, request);
  const std::string text = c.output(1, wire::stream::out, "\n");
  if (text.find("ports ") == text.npos) return skip("no network namespace can be made here");
  CHECK(ports_of(c, 1) == said(text));
}

TEST_CASE("ports: of three hundred processes, and other commands are not held up") {
  client c;
  const port_list listens = started(c, 1, listener({"many", "300"}));
  const auto before = cpu_time(c.pid());
  for (int i = 0; i < 5; ++i) CHECK(ports_of(c, 1) == listens);
  const auto each = (cpu_time(c.pid()) - before) / 5;
  MESSAGE("300 processes: ", each.count(), " us of the processor for an answer");
  CHECK(each < milliseconds(100));
}

TEST_CASE("ports: answers come in the order of the questions") {
  client c;
  const port_list one = started(c, 1, listener({}));
  const port_list two = started(c, 2, listener({}));
  for (int i = 0; i < 20; ++i) c.send(frame_type::ports, static_cast<std::uint32_t>(1 + i % 2));
  for (int i = 0; i < 20; ++i) {
    const auto answer = c.next();
    REQUIRE(answer);
    CHECK(answer->type() == frame_type::port_list);
    CHECK(answer->head.id == static_cast<std::uint32_t>(1 + i % 2));
    wire::reader fields(answer->payload);
    CHECK(fields.u32() == 1);
    CHECK(fields.u16() == (i % 2 == 0 ? one : two).front());
  }
}
