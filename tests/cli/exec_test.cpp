#include "cli/program.hpp"
#include "support/temp_dir.hpp"

using namespace berth::test;

TEST_CASE("exec: exit code and both streams are the command's") {
  nothing_left guard;
  const auto done = berth_ends({"exec", "echo out; echo err >&2; exit 3"});
  CHECK(done.code == 3);
  CHECK(done.out == "out\n");
  CHECK(done.err == "err\n");
}

TEST_CASE("exec: several words are a program and its arguments") {
  const auto done = berth_ends({"exec", "printf", "[%s]", "a b", "$HOME", "", "--json"});
  CHECK(done.code == 0);
  CHECK(done.out == "[a b][$HOME][][--json]");
}

TEST_CASE("exec: a command of one word behind -- is shell text too") {
  CHECK(berth_ends({"exec", "--", "echo $((1+2))"}).out == "3\n");
}

TEST_CASE("exec: a signal that ended the command is 128 and its number") {
  const auto killed = berth_ends({"exec", "kill -KILL $$"});
  CHECK(killed.code == 137);
  CHECK(killed.err == "berth: ended by signal 9 (KILL)\n");
  const auto terminated = berth_ends({"exec", "kill -TERM $$"});
  CHECK(terminated.code == 143);
  CHECK(terminated.err == "");
}

TEST_CASE("exec: a program that is not there is 127, one that cannot run 126, each with one line") {
  nothing_left guard;
  const auto missing = berth_ends({"exec", "berth-no-such-program", "x"});
  CHECK(missing.code == 127);
  CHECK(missing.out == "");
  CHECK(count_lines(missing.err) == 1);
  CHECK(missing.err.find("berth: exec: ") == 0);
  CHECK(missing.err.find("berth-no-such-program") != std::string::npos);
  const auto refused = berth_ends({"exec", "/etc/passwd", "x"});
  CHECK(refused.code == 126);
  CHECK(count_lines(refused.err) == 1);
}

TEST_CASE("exec: shell text that names a missing program ends as the shell does") {
  CHECK(berth_ends({"exec", "berth-no-such-program"}).code == 127);
}

TEST_CASE("exec: runs in the caller's directory, or where --cwd says") {
  temp_dir directory;
  const auto path = directory.path().string();
  CHECK(shell_ends("cd " + path + " && exec \"$0\" exec pwd").out == path + "\n");
  CHECK(berth_ends({"exec", "--cwd", path, "pwd", "-P"}).out == path + "\n");
  CHECK(shell_ends("cd / && exec \"$0\" exec --cwd ." + path + " pwd -P").out == path + "\n");
}

TEST_CASE("exec: the environment is ours with the changes asked for") {
  const auto done = shell_ends("GONE=1 KEPT=2 \"$0\" exec -e NEW=3 --unset-env GONE 'echo \"$GONE|$KEPT|$NEW\"'");
  CHECK(done.out == "|2|3\n");
}

TEST_CASE("exec: both streams as one, in the order of the writes") {
  const auto done = berth_ends({"exec", "--merge-stderr", "echo 1; echo 2 >&2; echo 3"});
  CHECK(done.out == "1\n2\n3\n");
  CHECK(done.err == "");
}

TEST_CASE("exec: what the command leaves running ends with it") {
  nothing_left guard;
  const auto done = berth_ends({"exec", "setsid sleep 100 >/dev/null 2>&1 & echo started"});
  CHECK(done.code == 0);
  CHECK(done.out == "started\n");
  CHECK(done.err == "");
}

TEST_CASE("exec: what is left with the output open does not hold it up, and is told") {
  nothing_left guard;
  stopwatch watch;
  const auto done = berth_ends({"exec", "sleep 100 & echo started"});
  CHECK(done.code == 0);
  CHECK(done.out == "started\n");
  CHECK(done.err == "berth: exec: what the command left running held its output open, and was ended\n");
  CHECK(watch.time() < std::chrono::seconds(10));
}

TEST_CASE("exec: no variable of the library reaches the command") {
  const auto done = shell_ends("env -i A=1 \"$0\" exec env");
  CHECK(done.out.find("BERTH") == std::string::npos);
  CHECK(done.out.find("A=1\n") != std::string::npos);
}
