#include "docker/pull_report.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

using namespace berth;

namespace {

std::optional<pull_progress> tell(pull_report& report, const char* text) { return report.read(json::parse(text)); }

}  // namespace

TEST_CASE("pull: layers add up") {
  pull_report report("r/a");
  CHECK(tell(report, R"({"status":"Pulling from a","id":"latest"})")->all_size == 0);
  tell(report, R"({"status":"Downloading","id":"one","progressDetail":{"current":10,"total":100}})");
  auto now = tell(report, R"({"status":"Downloading","id":"two","progressDetail":{"current":5,"total":50}})");
  REQUIRE(now);
  CHECK(now->layer == "two");
  CHECK(now->done == 5);
  CHECK(now->all_done == 15);
  CHECK(now->all_size == 150);
  now = tell(report, R"({"status":"Extracting","id":"one","progressDetail":{"current":1,"total":100}})");
  CHECK(now->all_done == 15);
  now = tell(report, R"({"status":"Pull complete","id":"one","progressDetail":{}})");
  CHECK(now->all_done == 105);
  CHECK_FALSE(tell(report, R"({"aux":{"ID":"x"}})"));
}

TEST_CASE("pull: an error inside of a good reply is one, by its kind") {
  struct failure_case {
    const char* text;
    errc code;
  };
  const failure_case cases[] = {
      {R"({"errorDetail":{"message":"filesystem layer verification failed"},"error":"x"})", errc::protocol},
      {R"({"errorDetail":{"message":"unknown blob"}})", errc::protocol},
      {R"({"error":"no basic auth credentials"})", errc::unauthorized},
      {R"({"error":"unauthorized: authentication required"})", errc::unauthorized},
      {R"({"error":"manifest for a:b not found: manifest unknown"})", errc::not_found},
      {R"({"error":"write /x: no space left on device"})", errc::resource_exhausted},
      {R"({"error":"toomanyrequests: You have reached your pull rate limit"})", errc::rate_limited},
      {R"({"error":"dial tcp 127.0.0.1:1: connect: connection refused"})", errc::unavailable},
  };
  for (const failure_case& each : cases) {
    CAPTURE(each.text);
    pull_report report("r/a");
    try {
      (void)tell(report, each.text);
      FAIL("was taken");
    } catch (const error& failure) {
      CHECK(failure.code() == each.code);
      CHECK(failure.message().find("image 'r/a' could not be pulled: ") == 0);
      CHECK_FALSE(failure.remote().empty());
    }
  }
}
