#include "cli/json_events.hpp"

#include "cli/program.hpp"
#include "core/json.hpp"

#include <sstream>

using namespace berth;
using namespace berth::cli;

namespace {

chunk out(std::string bytes) { return chunk(output_stream::std_out, std::move(bytes)); }

/// The lines of an event stream; what is no JSON fails the test.
std::vector<json> events_in(const std::string& text) {
  std::vector<json> events;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line));
  return events;
}

/// The bytes of a stream, put together again.
std::string bytes_of(const std::vector<json>& events, std::string_view stream) {
  std::string bytes;
  for (const auto& event : events) {
    if (event["type"] != "output" || event["stream"] != stream) continue;
    bytes += event["text"].is_string() ? event["text"].as_string() : base64_decode(event.at("base64").as_string());
  }
  return bytes;
}

}  // namespace

TEST_CASE("json: text that is UTF-8, base64 that is not") {
  json_events events;
  CHECK(events.output(out("a\"\\\n\t\x01 \xC3\xA9")) ==
        "{\"type\":\"output\",\"stream\":\"stdout\",\"text\":\"a\\\"\\\\\\n\\t\\u0001 \xC3\xA9\"}\n");
  CHECK(events.output(out("\xFF\x00x")) == "{\"type\":\"output\",\"stream\":\"stdout\",\"base64\":\"/w==\"}\n");
  CHECK(events.output(chunk(output_stream::std_err, "e")) ==
        "{\"type\":\"output\",\"stream\":\"stderr\",\"text\":\"e\"}\n");
}

TEST_CASE("json: a character is never cut, and what never became one is not lost") {
  json_events events;
  CHECK(events.output(out("\xE2\x82")).empty());
  CHECK(events.output(out("\xAC!")) == "{\"type\":\"output\",\"stream\":\"stdout\",\"text\":\"\xE2\x82\xAC!\"}\n");
  CHECK(events.output(out("a\xE2")) == "{\"type\":\"output\",\"stream\":\"stdout\",\"text\":\"a\"}\n");
  CHECK(events.rest() == "{\"type\":\"output\",\"stream\":\"stdout\",\"base64\":\"4g==\"}\n");
  CHECK(events.rest().empty());
}

TEST_CASE("json: a run gives start, output and one result, and nothing else on standard output") {
  test::nothing_left guard;
  const auto done = test::berth_ends({"exec", "--json", "echo out; echo err >&2; exit 3"});
  CHECK(done.code == 3);
  CHECK(done.err == "");
  const auto events = events_in(done.out);
  REQUIRE(events.size() == 4);
  CHECK(events.front()["type"] == "start");
  CHECK(events.front()["pid"].as_int() > 0);
  CHECK(bytes_of(events, "stdout") == "out\n");
  CHECK(bytes_of(events, "stderr") == "err\n");
  const auto& result = events.back();
  CHECK(result["type"] == "result");
  CHECK(result["reason"] == "exited");
  CHECK(result["exit_code"] == 3);
  CHECK(result["signal"] == 0);
  CHECK(result["limit"] == "none");
  CHECK(result["wall_us"].as_int() > 0);
  CHECK(result["max_rss_bytes"].as_int() > 0);
  CHECK(result["streams_open"] == false);
  CHECK(result["survivors"].as_array().empty());
  CHECK(result["denied"].is_null());
  CHECK(result["bytes"]["stdout"] == 4);
  CHECK(result["bytes"]["stderr"] == 4);
}

TEST_CASE("json: bytes come back exactly") {
  const auto told = test::berth_ends({"exec", "--json", "head -c 300000 /bin/bash | tee /dev/stderr"});
  const auto expected = test::shell_ends("head -c 300000 /bin/bash");
  const auto events = events_in(told.out);
  CHECK((bytes_of(events, "stdout") == expected.out));
  CHECK((bytes_of(events, "stderr") == expected.out));
}

TEST_CASE("json: a command that could not start has a result and no start") {
  const auto done = test::berth_ends({"exec", "--json", "berth-no-such-program", "x"});
  CHECK(done.code == 127);
  const auto events = events_in(done.out);
  REQUIRE(events.size() == 1);
  CHECK(events[0]["reason"] == "start_failed");
  CHECK(events[0]["message"].as_string().find("berth-no-such-program") != std::string::npos);
}

TEST_CASE("json: time limits and signals are told by their reason") {
  const auto late = test::berth_ends({"exec", "--json", "--timeout", "200ms", "sleep 100"});
  CHECK(late.code == 124);
  CHECK(events_in(late.out).back()["reason"] == "timed_out");
  const auto killed = test::berth_ends({"exec", "--json", "kill -KILL $$"});
  CHECK(events_in(killed.out).back()["reason"] == "signaled");
  CHECK(events_in(killed.out).back()["signal"] == 9);
}
