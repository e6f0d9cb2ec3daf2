#include "cli/isolation_check.hpp"
#include "cli/program.hpp"
#include "core/json.hpp"
#include "support/skipping.hpp"
#include "support/temp_dir.hpp"

#include <algorithm>
#include <filesystem>
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

TEST_CASE("doctor: the real sandbox is tried, and its program is named") {
  const nothing_left nothing;
  const json report = json::parse(berth_ends({"doctor", "--json"}).out);
  if (!std::filesystem::exists("/usr/bin/bwrap")) {
    CHECK(state_of(report, "isolation") == "limited");
    return;
  }
  const json* const sandbox = check_called(report, "isolation");
  REQUIRE(sandbox != nullptr);
  CAPTURE(sandbox->at("detail").as_string());
  CHECK(state_of(report, "isolation") == "ok");
  CHECK(check_called(report, "bwrap")->at("detail").as_string().find("bubblewrap ") == 0);
  for (const auto& each : std::filesystem::directory_iterator(std::filesystem::temp_directory_path()))
    CHECK(each.path().filename().string().find("berth-doctor-") == std::string::npos);
}

TEST_CASE("doctor: the line of a command without a sandbox becomes a cause and a cure") {
  auto found = cli::without_sandbox(
      "[isolation] bwrap not usable: No permissions to create new namespace (the kernel denies them); command was not "
      "run");
  CHECK(found.detail == "bwrap not usable: No permissions to create new namespace");
  CHECK(found.cure == "the kernel denies them");
  CHECK(found.state == cli::health::limited);
  found = cli::without_sandbox("[isolation] bwrap not usable: what; command was not run");
  CHECK(found.detail == "bwrap not usable: what");
  CHECK(!found.cure.empty());
}

TEST_CASE("doctor: a bwrap before 0.12 has a known weakness, and one before 0.8 is too old") {
  const auto old = cli::bwrap_version("bubblewrap 0.8.0\n", "/usr/bin/bwrap");
  CHECK(old.state == cli::health::limited);
  CHECK(old.detail.find("bubblewrap 0.8.0, /usr/bin/bwrap: ") == 0);
  CHECK(old.detail.find("CVE-2026-87766") != std::string::npos);
  CHECK(cli::bwrap_version("bubblewrap 0.7.0\n", "b").detail.find("too old") != std::string::npos);
  CHECK(cli::bwrap_version("bubblewrap 0.12.0\n", "b").state == cli::health::ok);
  CHECK(cli::bwrap_version("bubblewrap 1.0\n", "b").state == cli::health::ok);
  for (const char* silent : {"", "\n"}) {
    const auto found = cli::bwrap_version(silent, "/opt/b");
    CHECK(found.state == cli::health::limited);
    CHECK(found.detail == "/opt/b: it does not tell its version");
  }
  CHECK(cli::bwrap_version("what?\nmore", "b").detail == "b: it does not tell its version, but what?");
}

TEST_CASE("doctor: takes the bwrap that a command in this directory would get") {
  if (!has_bwrap()) return;
  const nothing_left nothing;
  const temp_dir at;
  std::filesystem::create_directories(at / "project/bin");
  const std::string own = at / "project/bin/bwrap";
  write_whole_file(own, "#!/bin/sh\nexit 3\n");
  std::filesystem::permissions(own, std::filesystem::perms::owner_all);
  const std::string in_path = " && PATH='" + (at / "project/bin") + "':\"$PATH\" exec \"$0\" doctor --json";
  const json inside = json::parse(shell_ends("cd '" + (at / "project") + "'" + in_path).out);
  CHECK(check_called(inside, "bwrap")->at("detail").as_string().find(own) == std::string::npos);
  CHECK(state_of(inside, "isolation") == "ok");
  std::filesystem::create_directory(at / "beside");
  const std::string named = " && BERTH_BWRAP='" + own + "' exec \"$0\" doctor --json";
  const json outside = json::parse(shell_ends("cd '" + (at / "beside") + "'" + named).out);
  CHECK(check_called(outside, "bwrap")->at("detail").as_string() == own + ": it does not tell its version");
  CHECK(state_of(outside, "isolation") == "limited");
}

TEST_CASE("doctor: takes no arguments") {
  CHECK(berth_ends({"doctor", "me"}).code == 125);
  CHECK(berth_ends({"doctor", "--jsn"}).code == 125);
}
