/// What is said of pulls and daemons, without either.
#include "cli/container_check.hpp"
#include "cli/json_events.hpp"
#include "cli/program.hpp"
#include "cli/pull_display.hpp"

#include <utility>

using namespace berth;
using namespace berth::cli;
using berth::test::berth_ends;

namespace {

pull_progress step(const std::string& layer, const std::string& status, std::uint64_t done, std::uint64_t size) {
  pull_progress now;
  now.image = "registry.example/team/image:1";
  now.layer = layer;
  now.status = status;
  now.all_done = done;
  now.all_size = size;
  return now;
}

}  // namespace

TEST_CASE("pull display: bytes and layers") {
  pull_summary summary;
  summary.add(step("1", "Pulling from team/image", 0, 0));
  CHECK(summary.text() == "waiting");
  CHECK(summary.whole() == "");
  summary.add(step("0123456789ab", "Already exists", 0, 0));
  summary.add(step("0123456789ac", "Downloading", 1'000'000, 4'000'000));
  CHECK(summary.text() == "1.0 MB of 4.0 MB, 1 of 2 layers");
  summary.add(step("0123456789ac", "Extracting", 4'000'000, 4'000'000));
  CHECK(summary.text() == "4.0 MB of 4.0 MB, 1 of 2 layers, unpacking");
  summary.add(step("0123456789ac", "Pull complete", 4'000'000, 4'000'000));
  CHECK(summary.whole() == ": 4.0 MB, 2 layers");
}

TEST_CASE("pull display: a bar fits the terminal, however narrow") {
  pull_summary summary;
  summary.add(step("0123456789ac", "Downloading", 1'000'000, 4'000'000));
  CHECK(summary.bar(100) ==
        "registry.example/team/image:1 [#######" + std::string(23, '-') + "] 1.0 MB of 4.0 MB, 0 of 1 layers");
  for (std::size_t columns = 0; columns < 120; ++columns) {
    CAPTURE(columns);
    CHECK(summary.bar(columns).size() < std::max<std::size_t>(columns, 1));
  }
  CHECK(summary.bar(60).find("...") == 0);
}

TEST_CASE("pull display: the event of a step") {
  pull_progress now = step("0123456789ac", "Downloading", 5, 9);
  now.done = 3;
  now.size = 4;
  CHECK(json_events::pull(now) ==
        R"({"type":"pull","image":"registry.example/team/image:1","layer":"0123456789ac","status":"Downloading",)"
        R"("done_bytes":3,"size_bytes":4,"all_done_bytes":5,"all_size_bytes":9})"
        "\n");
}

TEST_CASE("doctor: what a daemon says of itself") {
  daemon_report report;
  report.url = "unix:///var/run/docker.sock";
  report.from = "the usual place";
  report.version = "20.10.24";
  report.api_version = "1.41";
  report.driver = "overlay2";
  report.cgroups = "2";
  auto found = daemon_finding(report);
  CHECK(found.state == health::ok);
  CHECK(found.detail ==
        "Docker 20.10.24, API 1.41, at unix:///var/run/docker.sock (the usual place), storage overlay2, cgroups 2");
  report.is_podman = true;
  report.is_rootless = true;
  report.missing_limits = {"memory", "pids"};
  found = daemon_finding(report);
  CHECK(found.state == health::limited);
  CHECK(found.detail.find("Podman 20.10.24, rootless, ") == 0);
  CHECK(found.detail.find("; it cannot limit memory, pids") != std::string::npos);
  CHECK(!found.cure.empty());
}

TEST_CASE("doctor: of the two commands in a container it tells the one that failed") {
  trial tried;
  tried.first.status = tried.second.status = exit_status::exited(7);
  CHECK(container_finding("busybox", tried).state == health::ok);
  tried.first.status = exit_status::lost("gone");
  auto found = container_finding("busybox", tried);
  CHECK(found.state == health::limited);
  CHECK(found.detail == "a command in one of busybox: contact was lost: gone");
  std::swap(tried.first, tried.second);
  CHECK(container_finding("busybox", tried).detail == found.detail);
  tried.first.status = exit_status::start_failed(127, "no shell");
  found = container_finding("busybox", tried);
  CHECK(found.state == health::ok);
  CHECK(found.detail.find("no shell") != std::string::npos);
}

TEST_CASE("doctor: a host without a daemon is not broken") {
  const auto done = berth_ends({"doctor", "--docker-host", "unix:///nosuch/docker.sock"});
  CHECK(done.code == 0);
  CHECK(done.out.find("limited  docker ") != std::string::npos);
  CHECK(done.out.find("/nosuch/docker.sock") != std::string::npos);
  CHECK(berth_ends({"doctor", "--docker-host", "a", "--docker-context", "b"}).code == 125);
}
