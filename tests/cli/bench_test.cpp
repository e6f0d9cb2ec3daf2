#include "cli/program.hpp"
#include "core/json.hpp"
#include "support/temp_dir.hpp"

#include <csignal>
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
                                base + ".csv", "--html", base + ".html", "exec/host"});
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
