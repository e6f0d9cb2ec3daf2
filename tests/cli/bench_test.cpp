#include "cli/program.hpp"
#include "core/json.hpp"
#include "support/temp_dir.hpp"

#include <csignal>
#include <cstdio>
#include <string>

using namespace berth;
using namespace berth::test;

TEST_CASE("bench: --list names what can be measured, with the bases") {
  const auto done = berth_ends({"bench", "--list"});
  CHECK(done.code == 0);
  CHECK(done.out.find("exec/host            us       against exec/floor\n") != std::string::npos);
  for (const char* name : {"exec/host-2gib", "exec64/host", "loop/host", "stream/host", "pty/host", "memory/stream",
                           "kill/host", "first-byte/host", "lines/host", "file/read4k", "file/write4k", "file/tree",
                           "idle/host", "spawn/host", "exec/curve-256", "stream/size-1g"}) {
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
  const auto done = berth_ends({"bench", "--runs", "1", "--warmup", "0", "exec/curve-4", "exec64", "spawn", "loop",
                                "stream/size-64k", "first-byte", "lines", "pty", "idle", "kill", "file"});
  CHECK(done.code == 0);
  CHECK(done.out.find("failed") == std::string::npos);
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
  CHECK(done.out.find("failed   exec/gone: 1 times, first: it has ended: exited with 3\n") != std::string::npos);
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
  program bench({"bench", "--runs", "1000000", "--progress", "--json", path, "spawn"});
  // A line of progress: it has begun.
  CHECK(eventually([&] {
    return bench.prints("never", std::chrono::milliseconds(10)) || bench.err().find("spawn/host") != std::string::npos;
  }));
  bench.signal(SIGINT);
  const auto done = bench.end();
  CHECK(done.code == -SIGINT);
  CHECK(done.out.find("interrupted") != std::string::npos);
  CHECK(json::parse(read_whole_file(path)).at("results").as_array().size() == 1);
}
