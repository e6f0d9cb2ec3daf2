#include "cli/program.hpp"
#include "core/json.hpp"

#include <algorithm>
#include <string>

using namespace berth;
using namespace berth::test;

namespace {

const json* check_called(const json& report, std::string_view name) {
  for (const json& each : report.at("checks").as_array()) {
    if (each.at("name").as_string() == name) return &each;
  }
  return nullptr;
}

std::string state_of(const json& report, std::string_view name) {
  const json* const found = check_called(report, name);
  return found == nullptr ? "missing" : found->at("state").as_string();
}

}  // namespace

TEST_CASE("doctor: what every test here needs is ok") {
  const nothing_left nothing;
  const auto done = berth_ends({"doctor", "--json"});
  CHECK(done.code == 0);
  CHECK(done.err == "");
  const json report = json::parse(done.out);
  for (const char* name : {"commands", "kernel", "proc", "shells", "terminals"}) {
    CAPTURE(name);
    CHECK(state_of(report, name) == "ok");
  }
  CHECK(report.at("version").is_string());
}

TEST_CASE("doctor: what is amiss has a cure, and the text says the same as the objects") {
  const auto text = berth_ends({"doctor"});
  const json report = json::parse(berth_ends({"doctor", "--json"}).out);
  for (const json& each : report.at("checks").as_array()) {
    const std::string name(each.at("name").as_string());
    CAPTURE(name);
    CHECK(text.out.find(" " + name + " ") != std::string::npos);
    CHECK((each.at("state").as_string() == "ok") == (each["cure"].is_null()));
  }
}

TEST_CASE("doctor: a descriptor limit that is too low is told with its cure") {
  const auto done = shell_ends("ulimit -n 64; exec \"$0\" doctor");
  CHECK(done.code == 0);
  CHECK(done.out.find("limited  descriptors") != std::string::npos);
  CHECK(done.out.find("ulimit -n 1024") != std::string::npos);
}

TEST_CASE("doctor: where nothing can be started the exit code is 1, and it says what") {
  const auto done = shell_ends("ulimit -n 12; exec \"$0\" doctor");
  CHECK(done.code == 1);
  CHECK(done.out.find("broken   commands") != std::string::npos);
}

TEST_CASE("doctor: takes no arguments") {
  CHECK(berth_ends({"doctor", "me"}).code == 125);
  CHECK(berth_ends({"doctor", "--jsn"}).code == 125);
}
