#include "cli/terminal_session.hpp"
#include "support/temp_dir.hpp"

#include <filesystem>
#include <thread>

using namespace berth::test;

TEST_CASE("terminal: control C is an INT for the command, and not the end of anything else") {
  nothing_left guard;
  terminal_session session(
      "trap : INT; \"$0\" exec 'trap \"echo got; exit 5\" INT; echo ready; while :; do sleep 0.05; done'; echo code "
      "$?");
  REQUIRE(session.shows("ready"));
  session.type("\x03");
  CHECK(session.shows("code 5"));
  CAPTURE(session.screen());
  CHECK(session.shows("got"));
}

TEST_CASE("terminal: what we say in a raw one is a line of its own") {
  nothing_left guard;
  terminal_session session("stty raw; printf prompt; \"$0\" exec --nosuch; printf next");
  CHECK(session.shows("next"));
  CAPTURE(session.screen());
  CHECK(session.screen().find("prompt\r\nberth: exec: ") != std::string::npos);
  CHECK(session.screen().find("\r\nnext") != std::string::npos);
}
TEST_CASE("terminal: lines reach the command, and control D ends its input") {
  nothing_left guard;
  terminal_session session("\"$0\" exec 'echo ready; cat; echo end'; echo code $?");
  REQUIRE(session.shows("ready"));
  session.type("hello\n");
  CHECK(session.shows("hello\r\nhello\r\n"));  // echo of the terminal, then cat
  session.type("\x04");
  CHECK(session.shows("code 0"));
}

TEST_CASE("terminal: in the background we neither stop nor take what is typed") {
  nothing_left guard;
  terminal_session session("set -m; \"$0\" exec 'sleep 0.5; echo done' & read line; wait; echo shell got $line");
  session.type("words\n");
  CHECK(session.shows("shell got words"));
  CHECK(session.shows("done"));
}

TEST_CASE("terminal: brought to the foreground, we read again") {
  nothing_left guard;
  terminal_session session("set -m; \"$0\" exec 'echo ready; read line; echo command got $line' & sleep 1; fg");
  REQUIRE(session.shows("ready"));
  REQUIRE(session.shows("exec"));  // the shell names the job it brings back
  session.type("words\n");
  CHECK(session.shows("command got words"));
}

TEST_CASE("terminal: control Z stops the command with us, and it goes on with us") {
  nothing_left guard;
  temp_dir directory;
  const auto path = directory / "ticks";
  const auto ticks = [&] { return std::filesystem::exists(path) ? read_whole_file(path).size() : 0; };
  terminal_session session("set -m; \"$0\" exec 'while :; do echo >>" + path +
                           "; sleep 0.02; done'; echo stopped $?; read line; fg");
  REQUIRE(eventually([&] { return ticks() > 2; }));
  session.type("\x1A");
  REQUIRE(session.shows("stopped 148"));
  const auto before = ticks();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(ticks() <= before + 1);
  session.type("go\n");
  CHECK(eventually([&] { return ticks() > before + 3; }));
}
