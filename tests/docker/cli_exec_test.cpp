/// `berth exec` and `berth shell` in containers.
#include "cli/program.hpp"
#include "cli/terminal_session.hpp"
#include "core/json.hpp"
#include "docker/left_containers.hpp"
#include "docker/real_daemon.hpp"
#include "support/temp_dir.hpp"
#include "support/variable.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <sstream>

using namespace berth;
using namespace berth::test;

namespace {

words in_busybox(const std::vector<daemon_address>& daemon, const std::string& word, const words& more) {
  words all{word, "--image", "test/busybox:1", "--docker-host", daemon.front().url, "--network", "none"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
  return all;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

DOCKER_TEST("cli in containers: streams, the exit code, and no container afterwards") {
  program run(in_busybox(daemon, "exec", {"--", "pwd; echo err >&2; cat; exit 3"}));
  run.write("input\n");
  run.close_input();
  const auto done = run.end();
  CHECK(done.code == 3);
  CHECK(done.out == "/workspace\ninput\n");
  CHECK(done.err == "err\n");
  auto counting = containers_of(io, daemon, run.pid());
  CHECK(co_await std::move(counting) == 0);
}

DOCKER_TEST("cli in containers: where the Engine runs commands, input goes in, and TERM ends them") {
  const words engine{"exec", "--image", "test/emulated:1", "--docker-host", daemon.front().url, "--network", "none"};
  words cat = engine;
  cat.emplace_back("cat");
  program run(cat);
  run.write("input\n");
  run.close_input();
  const auto done = run.end();
  CHECK(done.code == 0);
  CHECK(done.out == "input\n");
  words waits = engine;
  waits.emplace_back("echo begun; sleep 1000");
  program other(waits);
  CHECK(other.prints("begun\n"));
  other.signal(SIGTERM);
  CHECK(other.end().code != 0);
  auto counting = containers_of(io, daemon, other.pid());
  CHECK(co_await std::move(counting) == 0);
}

DOCKER_TEST("cli in containers: a user writes in the default directory") {
  const auto done = berth_ends(in_busybox(daemon, "exec", {"--user", "1000", "touch x && ls -ln x; id -u"}));
  CAPTURE(done.err);
  CHECK(done.code == 0);
  CHECK(has(done.out, " 1000 "));
  const temp_dir mounted;
  const auto kept = berth_ends(
      in_busybox(daemon, "exec", {"--user", "1000", "-v", mounted.path().string() + ":/workspace/", "stat -c %u ."}));
  CHECK(kept.out == "0\n");
  co_return;
}

DOCKER_TEST("cli in containers: output comes while the command runs") {
  program run(in_busybox(daemon, "exec", {"echo first; read line; echo $line"}));
  CHECK(run.prints("first\n"));
  run.write("second\n");
  run.close_input();
  const auto done = run.end();
  CHECK(done.code == 0);
  CHECK(has(done.out, "second\n"));
  co_return;
}

DOCKER_TEST("cli in containers: a program that is not there is 127, and so is shell text without a shell") {
  CHECK(berth_ends(in_busybox(daemon, "exec", {"--", "/nosuch", "x"})).code == 127);
  const auto bare = berth_ends({"exec", "--image", "test/scratch:1", "--docker-host", daemon.front().url, "echo hi"});
  CHECK(bare.code == 127);
  CHECK(bare.err == "berth: exec: cannot run '/bin/sh': No such file or directory\n");
  const auto words_only =
      berth_ends({"exec", "--image", "test/scratch:1", "--docker-host", daemon.front().url, "/busybox", "echo", "hi"});
  CHECK(words_only.code == 0);
  CHECK(words_only.out == "hi\n");
  co_return;
}

DOCKER_TEST("cli in containers: the options reach the container") {
  const auto done = berth_ends(in_busybox(
      daemon, "exec",
      {"--user", "1000:1000", "--read-only", "--tmpfs", "/tmp:size=1m", "--cap-drop", "ALL", "--security-opt",
       "no-new-privileges", "--cwd", "/tmp", "-e", "A=1", "--clean-env", "--",
       "pwd; id -u; touch /x; touch y && ls; "
       "grep -c 'NoNewPrivs:.1' /proc/self/status; grep CapBnd /proc/self/status; echo $A; echo ${HOME:-none}"}));
  CHECK(done.code == 0);
  CHECK(has(done.out, "/tmp\n1000\ny\n1\nCapBnd:\t0000000000000000\n1\n"));
  CHECK(has(done.err, "/x: Read-only file system"));
  co_return;
}

DOCKER_TEST("cli in containers: limits are those of the container") {
  program run(in_busybox(daemon, "exec",
                         {"--memory", "32M", "--processes", "20", "--cpus", "0.5", "--name", "berth-cli-limits",
                          "--label", "a=b", "echo on; read line"}));
  CHECK(run.prints("on\n"));
  auto connecting = docker_engine::connect(io.get_executor(), daemon);
  const auto engine = co_await std::move(connecting);
  const json found = co_await engine->ask("GET", "/containers/berth-cli-limits/json");
  const json& host = found["HostConfig"];
  CHECK(host["Memory"].as_int() == 32 << 20);
  CHECK(host["PidsLimit"].as_int() == 21);
  CHECK(host["NanoCpus"].as_int() == 500'000'000);
  CHECK(host["NetworkMode"].as_string() == "none");
  CHECK(found["Config"]["Labels"]["a"].as_string() == "b");
  run.close_input();
  run.end();
}

DOCKER_TEST("cli in containers: none of our variables is there but those that are named") {
  const variable_is mine("BERTH_CLI_MINE", "1");
  const variable_is other("BERTH_CLI_OTHER", "2");
  const auto none = berth_ends(in_busybox(daemon, "exec", {"env"}));
  CHECK(!has(none.out, "BERTH_CLI"));
  const auto one = berth_ends(in_busybox(daemon, "exec", {"--inherit-env", "BERTH_CLI_M*", "-e", "B=3", "env"}));
  CHECK(has(one.out, "BERTH_CLI_MINE=1\n"));
  CHECK(has(one.out, "B=3\n"));
  CHECK(!has(one.out, "BERTH_CLI_OTHER"));
  co_return;
}

DOCKER_TEST("cli in containers: events are those of this host") {
  const auto done = berth_ends(in_busybox(daemon, "exec", {"--json", "echo hi; exit 4"}));
  CHECK(done.code == 4);
  const auto events = lines_of(done.out);
  REQUIRE(events.size() == 3);
  CHECK(events[0]["type"].as_string() == "start");
  CHECK(events[1]["text"].as_string() == "hi\n");
  CHECK(events[2]["reason"].as_string() == "exited");
  CHECK(events[2]["exit_code"].as_int() == 4);
  co_return;
}

DOCKER_TEST("cli in containers: a port that the daemon chose is told") {
  const words serves{"exec", "--image", "test/busybox:1", "--docker-host", daemon.front().url, "-p", "8080"};
  words told = serves;
  told.emplace_back("true");
  const auto done = berth_ends(told);
  CHECK(done.code == 0);
  CAPTURE(done.err);
  CHECK(done.err.find("berth: exec: port 8080 of the container is 127.0.0.1:") == 0);
  CHECK(count_lines(done.err) == 1);
  words as_events = serves;
  as_events.insert(as_events.end(), {"--json", "true"});
  const auto events = berth_ends(as_events);
  CHECK(events.err == "");
  const auto first = lines_of(events.out).at(0);
  REQUIRE(first["ports"].is_array());
  CHECK(first["ports"].as_array().size() == 1);
  CHECK(first["ports"].as_array()[0]["container"].as_int() == 8080);
  CHECK(first["ports"].as_array()[0]["host"].as_int() > 0);
  CHECK(first["ports"].as_array()[0]["address"].as_string() == "127.0.0.1");
  co_return;
}

DOCKER_TEST("cli in containers: a deadline and an interrupt end the command, and the container goes") {
  program late(in_busybox(daemon, "exec", {"--timeout", "300ms", "sleep 100"}));
  const auto timed_out = late.end();
  CHECK(timed_out.code == 124);
  program run(in_busybox(daemon, "exec", {"trap 'echo got; exit 5' INT; echo on; while :; do sleep 0.1; done"}));
  CHECK(run.prints("on\n"));
  run.signal(SIGINT);
  const auto done = run.end();
  CHECK(done.code == 5);
  CHECK(has(done.out, "got\n"));
  for (const pid_t each : {late.pid(), run.pid()}) {
    auto counting = containers_of(io, daemon, each);
    CHECK(co_await std::move(counting) == 0);
  }
}

DOCKER_TEST("cli in containers: what cannot be is one line with its cause") {
  const auto missing = berth_ends(in_busybox(daemon, "exec", {"--image", "test/none:1", "--pull", "never", "true"}));
  CHECK(missing.code == 125);
  CHECK(has(missing.err, "berth: exec: image 'test/none:1' is not with the daemon, and pull is `never`"));
  const auto id = berth_ends(in_busybox(daemon, "exec", {"--image", std::string(64, '0'), "true"}));
  CHECK(id.code == 125);
  CHECK(has(id.err, "an id cannot be pulled"));
  const auto other = berth_ends(in_busybox(daemon, "exec", {"--image", "test/other-arch:1", "true"}));
  CHECK(other.code == 125);
  CAPTURE(other.err);
  CHECK(has(other.err, "it is for linux/"));
  const auto bind = berth_ends(in_busybox(daemon, "exec", {"-v", "/nosuch:/data", "true"}));
  CHECK(bind.code == 125);
  CHECK(has(bind.err, "/nosuch"));
  const auto nobody = berth_ends({"exec", "--image", "x", "--docker-host", "unix:///nosuch/docker.sock", "true"});
  CHECK(nobody.code == 125);
  CHECK(has(nobody.err, "no Docker daemon answers: unix:///nosuch/docker.sock"));
  const auto events = berth_ends({"exec", "--json", "--image", "x", "--docker-host", "unix:///nosuch", "true"});
  CHECK(has(events.out, "\"reason\":\"failed\",\"exit_code\":125"));
  for (const auto* end : {&missing, &other, &bind, &nobody}) CHECK(count_lines(end->err) == 1);
  co_return;
}

DOCKER_TEST("cli in containers: a shell in a terminal, which is afterwards what it was") {
  const temp_dir at;
  terminal_session session("cd '" + at.path().string() + "'; stty -a >before; \"$0\" shell --image test/busybox:1" +
                           " --network none --docker-host " + daemon.front().url +
                           "; echo code $?; stty -a >after; cmp before after && echo sa''me");
  CHECK(session.shows("# "));
  session.type("echo $((40+2)) in; tty; exit 7\r");
  CHECK(session.shows("42 in"));
  CHECK(session.shows("/dev/pts/"));
  CHECK(session.shows("code 7"));
  CHECK(session.shows("same"));
  co_return;
}
