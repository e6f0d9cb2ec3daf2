/// What the Engine sends piece by piece: JSON documents, and frames.
#include "docker/attach_frames.hpp"
#include "docker/json_stream.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace berth;

namespace {

std::vector<std::string> documents_of(std::string_view bytes, std::size_t step) {
  json_stream stream;
  std::vector<std::string> all;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    stream.feed(bytes.substr(at, step));
    while (const auto one = stream.next()) all.push_back(one->dump());
  }
  CHECK_FALSE(stream.unfinished());
  return all;
}

std::string frame(int stream, std::string_view bytes) {
  std::string made{static_cast<char>(stream), 0, 0, 0};
  for (int shift = 24; shift >= 0; shift -= 8) made += static_cast<char>(bytes.size() >> shift & 0xFFU);
  return made + std::string(bytes);
}

struct taken_apart {
  std::string out;
  std::string err;
  bool whole = false;
};

taken_apart take_apart(std::string_view bytes, std::size_t step) {
  attach_frames frames;
  taken_apart found;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    auto part = bytes.substr(at, step);
    while (const auto piece = frames.next(part)) {
      CHECK_FALSE(piece->bytes.empty());
      (piece->from == attach_frames::stream::err ? found.err : found.out) += piece->bytes;
    }
  }
  found.whole = frames.at_boundary();
  return found;
}

}  // namespace

TEST_CASE("json stream: documents come out whole, however they are split") {
  const std::string text = "{\"a\":1}\r\n{\"b\":\"}{\\\"\\\\\"}{\"c\":[{},[]]}\n\n \x1e{\"d\":\"\"}";
  const std::vector<std::string> expected{R"({"a":1})", R"({"b":"}{\"\\"})", R"({"c":[{},[]]})", R"({"d":""})"};
  for (std::size_t step = 1; step <= text.size(); ++step) CHECK(documents_of(text, step) == expected);
}

TEST_CASE("json stream: what is no object is an error, and so is one without an end") {
  json_stream stream;
  stream.feed("nonsense");
  CHECK_THROWS_AS((void)stream.next(), error);
  json_stream bounded(64);
  bounded.feed("{\"a\":\"" + std::string(100, 'x'));
  CHECK(bounded.unfinished());
  try {
    (void)bounded.next();
    FAIL("was taken");
  } catch (const error& failure) {
    CHECK(failure.code() == errc::limit_exceeded);
  }
}

TEST_CASE("json stream: the end in the middle of a document shows") {
  json_stream stream;
  stream.feed("{\"a\":1}{\"b\"");
  CHECK(stream.next());
  CHECK_FALSE(stream.next());
  CHECK(stream.unfinished());
}

TEST_CASE("attach frames: streams come apart, however they are split") {
  const std::string big(70000, 'b');
  const std::string bytes = frame(1, "one") + frame(2, "two") + frame(1, "") + frame(2, big) + frame(1, "end");
  for (const std::size_t step : {1UL, 2UL, 7UL, 8UL, 9UL, 4096UL, bytes.size()}) {
    const taken_apart found = take_apart(bytes, step);
    CHECK(found.out == "oneend");
    CHECK(found.err == "two" + big);
    CHECK(found.whole);
  }
}

TEST_CASE("attach frames: a cut frame shows, and text is no frame") {
  CHECK_FALSE(take_apart(frame(1, "abc").substr(0, 9), 9).whole);
  CHECK_FALSE(take_apart(frame(1, "abc").substr(0, 4), 4).whole);
  attach_frames frames;
  std::string_view text = "OCI runtime exec failed";
  CHECK_THROWS_AS((void)frames.next(text), error);
}
