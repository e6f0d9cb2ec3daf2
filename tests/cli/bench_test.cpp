#include "cli/program.hpp"
#include "core/json.hpp"
#include "support/temp_dir.hpp"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

using namespace berth;
using namespace berth::test;

TEST_CASE("bench: --list names what can be measured, with the bases") {
  const auto done = berth_ends({"bench", "--list"});
  CHECK(done.code == 0);
  const auto at = done.out.find("\nexec/host ");
  REQUIRE(at != std::string::npos);
  CHECK(done.out.substr(at, done.out.find('\n', at + 1) - at).ends_with(" us       against exec/floor"));
  for (const char* name :
       {"exec/host-2gib", "exec64/host",   "loop/host",           "stream/host",     "pty/host",
        "memory/stream",  "kill/host",     "first-byte/host",     "lines/host",      "file/read4k",
        "file/write4k",   "file/tree",     "idle/host",           "spawn/host",      "exec/curve-256",
        "stream/size-1g", "exec/isolated", "exec/bwrap-per-call", "exec64/isolated", "stream/isolated",
        "spawn/isolated"}) {
    CAPTURE(name);
    CHECK(done.out.find("\n" + std::string(name) + " ") != std::string::npos);
  }
}

TEST_CASE("bench: wrong words measure nothing") {
  CHECK(berth_ends({"bench", "nothing-like-it"}).code == 125);
  CHECK(berth_ends({"bench", "--runs", "0", "exec/host"}).code == 125);
  CHECK(berth_ends({"bench", "--warmup", "x", "exec/host"}).code == 125);
  CHECK(berth_ends({"bench", "--json", "/nowhere/at/all", "exec/host"}).code == 125);
  CHECK(berth_ends({"bench", "--compare", "/nowhere/at/all", "exec/host"}).code == 125);
  const auto done = berth_ends({"bench", "exec/hosts"});
  CHECK(done.err == "berth: bench: no bench is called 'exec/hosts'; --list names them\n");
}

TEST_CASE("bench: a quick run writes every file that was asked for") {
  const temp_dir dir;
  const std::string base = dir / "run";
  const auto done = berth_ends({"bench", "--runs", "3", "--warmup", "1", "--json", base + ".json", "--csv",
                                base + ".csv", "--html", base + ".html", "--svg", base + ".svg", "exec/host"});
  CHECK(done.code == 0);
  CHECK(done.err == "");
  CHECK(done.out.find("exec/floor ") != std::string::npos);
  const json report = json::parse(read_whole_file(base + ".json"));
  const auto& results = report.at("results").as_array();
  REQUIRE(results.size() == 2);
  CHECK(results[1].at("name").as_string() == "exec/host");
  CHECK(results[1].at("n").as_int() == 3);
  CHECK(results[1].at("failures").as_int() == 0);
  CHECK(results[1].at("ratios").at("exec/floor").as_double() > 0);
  CHECK(read_whole_file(base + ".csv").find("\nexec/host,us,less,3,0,") != std::string::npos);
  CHECK(read_whole_file(base + ".html").starts_with("<!DOCTYPE html>"));
  CHECK(read_whole_file(base + ".svg").starts_with("<svg "));
  const auto again = berth_ends({"bench", "--runs", "6", "--compare", base + ".json", "exec/host"});
  CHECK(again.code == 0);
  CHECK(again.out.find("unknown  exec/host: ratio to exec/floor") != std::string::npos);  // 3 samples say nothing
}

TEST_CASE("bench: every kind of bench runs and leaves nothing behind") {
  const nothing_left nothing;
  // Those of containers: tests/docker.
  const auto done = shell_ends(
      "DOCKER_HOST=unix:///nowhere exec \"$0\" bench --runs 1 --warmup 0 exec/curve-4 exec64 spawn loop exec/isolated "
      "stream/size-64k first-byte lines pty idle kill file");
  CHECK(done.code == 0);
  CHECK(done.out.find("failed") == std::string::npos);
}

TEST_CASE("bench: where no sandbox can be made its benches are left out, with the reason") {
  const nothing_left nothing;
  // Nowhere is room for the directory that it would work in.
  const auto done = shell_ends("TMPDIR=/nowhere exec \"$0\" bench --runs 1 --warmup 0 spawn/host spawn/isolated");
  CHECK(done.err.starts_with("berth: bench: without spawn/isolated: "));
  CHECK(count_lines(done.err) == 1);
  CHECK(done.code == 0);
  CHECK(done.out.find("spawn/host ") != std::string::npos);
  CHECK(done.out.find("spawn/isolated") == std::string::npos);
  CHECK(shell_ends("TMPDIR=/nowhere exec \"$0\" bench --runs 1 exec/bwrap").out.find("bwrap-per-call") ==
        std::string::npos);
}

TEST_CASE("bench: where no daemon answers the benches of containers are left out, with the reason") {
  const nothing_left nothing;
  const auto done = shell_ends("DOCKER_HOST=unix:///nowhere exec \"$0\" bench --runs 1 --warmup 0 exec64");
  CHECK(done.code == 0);
  CHECK(done.err.starts_with(
      "berth: bench: without exec64/docker: no Docker daemon answers: unix:///nowhere (DOCKER_HOST): "));
  CHECK(count_lines(done.err) == 1);
  CHECK(done.out.find("exec64/host ") != std::string::npos);
  CHECK(done.out.find("exec64/docker") == std::string::npos);
}

TEST_CASE("bench: peers are measured beside ours, and what is missing is named in a line") {
  const nothing_left nothing;
  const temp_dir dir;
  write_whole_file(dir / "peers.json", R"({
    "good": {"run": ["sh", "good.sh"], "does": {"exec": 0.5, "pty": 0}},
    "gone": {"run": ["sh", "gone.sh"], "does": {"exec": 0}},
    "missing": {"run": ["no-such-program"], "does": {"exec": 0}},
    "unasked": {"run": ["no-such-program"], "does": {"pty": 0}}})");
  write_whole_file(dir / "good.sh", "echo peer Good 1\nwhile read -r line; do echo ok 5000; done\n");
  write_whole_file(dir / "gone.sh", "exit 3\n");
  const std::string path = dir / "run.json";
  const auto done = berth_ends({"bench", "--runs", "2", "--peers-in", dir.path(), "--json", path, "exec/host"});
  CHECK(done.code == 1);  // one is gone
  CHECK(done.err == "berth: bench: without missing: there is no no-such-program on the PATH; ./dev bench --peers, or " +
                        dir.path().string() + "/install FOLDER, gets it\n");
  CHECK(done.out.find("failed   exec/gone: 1 times, given up, first: it has ended: exited with 3\n") !=
        std::string::npos);
  const json report = json::parse(read_whole_file(path));
  const auto& results = report.at("results").as_array();
  REQUIRE(results.size() == 4);
  CHECK(results[1].at("ratios").at("exec/good").as_double() > 0);
  CHECK(results[2].at("name").as_string() == "exec/good");
  CHECK(results[2].at("p50").as_double() == 5);
  CHECK(report.at("environment").at("versions").at("good").as_string() == "Good 1");
}

TEST_CASE("bench: peers that are none are refused") {
  const temp_dir dir;
  CHECK(berth_ends({"bench", "--peers-in", dir.path(), "exec/host"}).code == 125);
  write_whole_file(dir / "peers.json", R"({"one": {"run": ["sh"], "does": {"exce": 0}}})");
  const auto done = berth_ends({"bench", "--peers-in", dir.path(), "exec/host"});
  CHECK(done.code == 125);
  CHECK(done.err == "berth: bench: one: 'exce' is no bench for peers\n");
}

TEST_CASE("bench: --peers finds those of the source tree, and lists them or names them as missing") {
  if (!std::string(BERTH_PROGRAM).starts_with(BERTH_SOURCE_DIR "/build")) {
    std::printf("SKIPPED: bench: --peers: this build is outside of the source tree\n");
    return;
  }
  const auto done = berth_ends({"bench", "--peers", "--list"});
  CHECK(done.code == 0);
  for (const char* name : {"exec/node-child_process", "exec/node-execa", "pty/node-pty", "exec/python-subprocess",
                           "exec/python-asyncio", "exec/rust-std"}) {
    CAPTURE(name);
    const std::string missing = "without " + std::string(name).substr(std::string(name).find('/') + 1) + ":";
    const bool listed = done.out.find("\n" + std::string(name) + " ") != std::string::npos;
    CHECK(listed == (done.err.find(missing) == std::string::npos));
  }
}

TEST_CASE("bench: INT ends it with a report of what there is") {
  const nothing_left nothing;
  const temp_dir dir;
  const std::string path = dir / "run.json";
  program bench({"bench", "--runs", "1000000", "--warmup", "0", "--progress", "--json", path, "spawn/host"});
  // A second line of progress: there are samples.
  CHECK(eventually([&] {
    return bench.prints("never", std::chrono::milliseconds(10)) ||
           bench.err().find("spawn/host") != bench.err().rfind("spawn/host");
  }));
  bench.signal(SIGINT);
  const auto done = bench.end();
  CHECK(done.code == -SIGINT);
  CHECK(done.out.find("interrupted") != std::string::npos);
  CHECK(json::parse(read_whole_file(path)).at("results").as_array().size() == 1);
}

namespace {

std::vector<std::string> all_in(const temp_dir& dir) {
  std::vector<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator(dir.path())) names.push_back(each.path().filename());
  return names;
}

}  // namespace

TEST_CASE("bench: an earlier report stays where a run fails, and nothing is left beside it") {
  const temp_dir dir;
  const std::string path = dir / "old.json";
  write_whole_file(path, "old");
  for (const words& wrong : {words{"nothing-like-it"}, words{"--runs", "0", "exec/host"},
                             words{"--compare", "/nowhere", "exec/host"}, words{"--csv", path, "exec/host"},
                             words{"--csv", "/nowhere/x", "exec/host"}, words{"--html", "-", "exec/host"}}) {
    words all = {"bench", "--json", path};
    all.insert(all.end(), wrong.begin(), wrong.end());
    CAPTURE(wrong.front());
    CHECK(berth_ends(all).code == 125);
    CHECK(read_whole_file(path) == "old");
    CHECK(all_in(dir) == words{"old.json"});
  }
}

TEST_CASE("bench: a report takes the place of the earlier one behind a link, and a full disk costs only its own") {
  const temp_dir dir;
  const std::string path = dir / "old.json";
  write_whole_file(path, "old");
  std::filesystem::create_symlink("old.json", dir / "link");
  const auto done = berth_ends(
      {"bench", "--runs", "1", "--json", dir / "link", "--csv", "/dev/full", "--svg", "/dev/stdout", "spawn/host"});
  CHECK(done.code == 125);
  CHECK(done.err.find("writing /dev/full") != std::string::npos);
  CHECK(done.out.starts_with("<svg "));
  CHECK(done.out.find("spawn/host ") != std::string::npos);
  CHECK(std::filesystem::is_symlink(dir / "link"));
  CHECK(read_whole_file(path).starts_with("{"));
  CHECK(all_in(dir).size() == 2);
}

TEST_CASE("bench: signals before any sample leave the earlier report, and no file beside it") {
  // The last one nobody listens to, nor to the second of two.
  for (const words& signals : {words{"INT"}, words{"TERM"}, words{"INT", "TERM"}, words{"QUIT"}}) {
    CAPTURE(signals.back());
    const temp_dir dir;
    write_whole_file(dir / "old.json", "old");
    program bench({"bench", "--warmup", "1000000", "--progress", "--json", dir / "old.json", "spawn/host"});
    CHECK(eventually([&] { return all_in(dir).size() == 2; }));
    const bool is_told = signals == words{"INT"};  // once it measures
    if (is_told) {
      CHECK(eventually([&] {
        return bench.prints("never", std::chrono::milliseconds(10)) ||
               bench.err().find("spawn/host") != std::string::npos;
      }));
    }
    for (const auto& each : signals) bench.signal(each == "INT" ? SIGINT : each == "TERM" ? SIGTERM : SIGQUIT);
    const auto done = bench.end();
    CHECK(done.code < 0);
    if (is_told) CHECK(done.err.find("no report is written") != std::string::npos);
    CHECK(read_whole_file(dir / "old.json") == "old");
    CHECK(all_in(dir) == words{"old.json"});
  }
}

TEST_CASE("bench: what cannot be compared with is named") {
  CHECK(berth_ends({"bench", "--compare", "/", "exec/host"}).err == "berth: bench: /: Is a directory\n");
  CHECK(berth_ends({"bench", "--compare", "/dev/zero", "exec/host"}).err ==
        "berth: bench: /dev/zero: File too large\n");
}

TEST_CASE("bench: a peer's name without --peers says what is missing") {
  if (!std::string(BERTH_PROGRAM).starts_with(BERTH_SOURCE_DIR "/build")) {
    std::printf("SKIPPED: bench: a peer's name: this build is outside of the source tree\n");
    return;
  }
  CHECK(berth_ends({"bench", "exec/python-asyncio"}).err ==
        "berth: bench: exec/python-asyncio is a peer: with --peers\n");
}
