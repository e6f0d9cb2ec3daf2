/// Terminals: what is typed, what is shown, and how they end.
#include "contract/contract.hpp"

#include "support/proc_scan.hpp"

#include <signal.h>
#include <stdlib.h>

namespace berth::contract {
namespace {

/// A shell whose prompt is known.
terminal_options plain_shell() {
  return terminal_options().run(argv("/bin/sh", "-i").env("PS1", "prompt> ").env("ENV", ""));
}

/// Shows nothing of what is typed, says "ready" and goes on with the text.
terminal_options quiet(const std::string& text) {
  return terminal_options().run(command("stty raw -echo; echo ready; " + text));
}

task<bool> shows(terminal from, std::string text) {
  const auto match = co_await from.wait_for_output(std::move(text), 10s);
  co_return match.has_value();
}

task<std::string> all_of(terminal from) {
  std::string all;
  std::uint64_t next = 0;
  for (;;) {
    const log_piece piece = co_await from.follow(next);
    CHECK(piece.gap() == 0);
    all += piece.bytes();
    next = piece.next();
    if (piece.ended()) co_return all;
  }
}

task<void> login_shell(context& place, handle where) {
  terminal one = co_await place.open_terminal(where);
  CHECK(one.pid() > 0);
  co_await one.write("echo \"is:$-:$0:$SHELL\" | tr a-z A-Z; echo mar''ked\n");
  bool seen = co_await shows(one, "marked\r\n");
  CHECK(seen);
  const std::string text = one.read(0).bytes();
  const auto at = text.find("IS:");
  REQUIRE(at != std::string::npos);
  CHECK(text.substr(at, text.find(':', at + 3) - at).find('I', 3) != std::string::npos);  // interactive
  CHECK(text.find(":/", at) != std::string::npos);
  co_await one.write("exit 7\n");
  const exit_status status = co_await one.exited();
  CHECK(status == exit_status::exited(7));
}

task<void> login_shell_of_nobody(context& place, handle where) {
  // Without tools it is looked up in /etc/passwd, without an entry there in SHELL.
  terminal one = co_await place.open_terminal(where, terminal_options().env("PATH", "/nonexistent"));
  co_await one.write("echo mar''ked; exit\n");
  const bool seen = co_await shows(one, "marked\r\n");
  CHECK(seen);
  co_await one.exited();
}

task<void> typed_command(context& place, handle where) {
  terminal one = co_await place.open_terminal(where, plain_shell());
  const bool prompted = co_await shows(one, "prompt> ");
  CHECK(prompted);
  co_await one.write("echo $((40 + 2))\n");
  const bool answered = co_await shows(one, "\n42\r\n");
  CHECK(answered);
  co_await one.write("exit 3\n");
  const exit_status status = co_await one.exited();
  CHECK(status == exit_status::exited(3));
  CHECK(one.status() == status);
}

task<void> size_and_resize(context& place, handle where) {
  terminal one = co_await place.open_terminal(where, plain_shell().size(120, 40));
  co_await one.write("stty size\n");
  bool seen = co_await shows(one, "40 120\r\n");
  CHECK(seen);
  one.resize(33, 11);
  CHECK(one.size() == terminal_size(33, 11));
  co_await one.write("stty size\n");
  seen = co_await shows(one, "11 33\r\n");
  CHECK(seen);
  CHECK_THROWS_AS(one.resize(0, 5), error);
  co_await one.kill();
}

task<void> surroundings(context& place, handle where) {
  co_await place.make_directory(where, "below");
  const auto options = terminal_options()
                           .run(command("pwd; echo \"[$BERTH_ONE][$BERTH_CONTRACT][${BERTH_CONTRACT-unset}]\""))
                           .cwd("below")
                           .env("BERTH_ONE", "given")
                           .unset_env("BERTH_CONTRACT");
  terminal one = co_await place.open_terminal(where, options);
  const std::string text = co_await all_of(one);
  CHECK(text.find("/below\r\n") != std::string::npos);
  CHECK(text.find("[given][][unset]\r\n") != std::string::npos);
}

task<void> several_readers(context& place, handle where) {
  std::string called;
  const auto add = [&called](std::string_view bytes) { called += bytes; };
  terminal one = co_await place.open_terminal(
      where, quiet("i=0; while [ $i -lt 500 ]; do echo $i; i=$((i+1)); done").on_data(add));
  running<std::string> first(place.get_executor(), all_of(one));
  running<std::string> second(place.get_executor(), all_of(place.terminals(where).at(0)));
  const std::string a = co_await first.result();
  const std::string b = co_await second.result();
  std::string expected = "ready\n";
  for (int i = 0; i < 500; ++i) expected += std::to_string(i) + "\n";
  CHECK(a == expected);
  CHECK(b == a);
  co_await one.exited();
  CHECK(called == a);
}

task<void> secrets(context& place, handle where) {
  terminal one = co_await place.open_terminal(
      where, terminal_options().run(command("stty -echo; echo ready; read -r line; echo ${#line}")));
  co_await shows(one, "ready");
  co_await one.write_secret("correct horse battery\n");
  const exit_status status = co_await one.exited();
  CHECK(status.ok());
  const std::string shown = one.read(0).bytes();
  CHECK(shown.ends_with("21\r\n"));
  CHECK(shown.find("horse") == std::string::npos);
  std::string message;
  try {
    co_await one.write_secret("correct horse battery\n");
  } catch (const std::system_error& failure) {
    message = failure.what();
    CHECK(failure.code() == std::errc::broken_pipe);
  }
  CHECK_FALSE(message.empty());
  CHECK(message.find("horse") == std::string::npos);
}

task<void> detached(context& place, handle where) {
  std::string id;
  std::string before;
  {
    const auto add = [&before](std::string_view bytes) { before += bytes; };
    terminal one = co_await place.open_terminal(where, quiet("cat").on_data(add));
    id = one.id();
    co_await shows(one, "ready");
    co_await one.write("first");
    co_await shows(one, "first");
    one.detach();
  }
  CHECK(before == "ready\nfirst");
  auto list = place.terminals(where);
  REQUIRE(list.size() == 1);
  terminal again = list[0];
  CHECK(again.id() == id);
  co_await again.write("second");
  co_await shows(again, "second");
  CHECK(before == "ready\nfirst");
  std::string after;
  CHECK(again.attach(6, [&after](std::string_view bytes) { after += bytes; }) == 6);
  CHECK(after == "firstsecond");
  co_await again.write("third");
  co_await shows(again, "third");
  CHECK(after == "firstsecondthird");
  co_await again.kill();
}

task<void> scrollback_overrun(context& place, handle where) {
  terminal one = co_await place.open_terminal(where, quiet("exec " + child_path() + " flood 100000").scrollback(1000));
  co_await one.exited();
  std::string late;
  const std::uint64_t first = one.attach(0, [&late](std::string_view bytes) { late += bytes; });
  CHECK(first == 100006 - 1000);
  CHECK(late.size() == 1000);
  CHECK(is_pattern(late, 99000));
}

task<void> order_of_the_end(context& place, handle where) {
  for (int turn = 0; turn < 10; ++turn) {
    auto seen = std::make_shared<std::size_t>(0);
    auto ended = std::make_shared<bool>(false);
    auto late = std::make_shared<bool>(false);
    const auto count = [seen, ended, late](std::string_view bytes) {
      *seen += bytes.size();
      *late = *late || *ended;
    };
    terminal one = co_await place.open_terminal(where, quiet("exec " + child_path() + " flood 50000").on_data(count));
    co_await one.exited();
    *ended = true;
    CHECK(*seen == 50006);
    co_await pause_for(2ms);
    CHECK_FALSE(*late);
    CHECK(one.read(0, 1 << 20).ended());
  }
}

task<void> hung_up(context& place, handle where) {
  terminal one = co_await place.open_terminal(
      where, quiet("trap 'echo got hup; exit 4' HUP; echo armed; while :; do sleep 0.05; done"));
  co_await shows(one, "armed");
  const exit_status status = co_await one.kill();
  CHECK(status.reason() == end_reason::cancelled);
  CHECK(one.read(0).bytes().ends_with("got hup\n"));
  terminal deaf =
      co_await place.open_terminal(where, quiet("trap '' HUP TERM; echo armed; while :; do sleep 0.05; done"));
  co_await shows(deaf, "armed");
  const exit_status killed = co_await deaf.kill();
  CHECK(killed.reason() == end_reason::cancelled);
  CHECK(killed.signal() == SIGKILL);
}

task<void> mebibyte(context& place, handle where) {
  terminal one = co_await place.open_terminal(
      where, quiet("exec " + child_path() + " flood 1048576").scrollback(std::size_t{2} << 20));
  co_await one.exited();
  const log_piece all = one.read(6, std::size_t{2} << 20);
  CHECK(all.bytes().size() == 1048576);
  CHECK(is_pattern(all.bytes()));
}

task<void> typed_through(context& place, handle where) {
  terminal one = co_await place.open_terminal(where, quiet("head -c 400000 | wc -c"));
  co_await shows(one, "ready");
  std::vector<running<std::error_code>> writers;
  for (int i = 0; i < 4; ++i) {
    std::string part(100000, static_cast<char>('a' + i));
    writers.emplace_back(place.get_executor(), failure_of(one.write(std::move(part))));
  }
  for (auto& each : writers) {
    const std::error_code code = co_await each.result();
    CHECK_FALSE(code);
  }
  const exit_status status = co_await one.exited();
  CHECK(status.ok());
  CHECK(one.tail(20).bytes().find("400000") != std::string::npos);
}

task<void> writes_in_order(context& place, handle where) {
  terminal one = co_await place.open_terminal(where, quiet("head -c 60000"));
  co_await shows(one, "ready");
  std::string expected = "ready\n";
  std::vector<running<std::error_code>> writers;
  for (int i = 0; i < 6; ++i) {
    std::string part(10000, static_cast<char>('a' + i));
    expected += part;
    writers.emplace_back(place.get_executor(), failure_of(i % 2 == 0 ? one.write(part) : one.write_secret(part)));
  }
  co_await one.exited();
  CHECK(one.read(0, 1 << 20).bytes() == expected);
  for (auto& each : writers) co_await each.result();
}

task<void> end_of_file(context& place, handle where) {
  terminal one = co_await place.open_terminal(where, terminal_options().run(command("cat; echo after")));
  co_await one.write("line\n\x04");
  const exit_status status = co_await one.exited();
  CHECK(status.ok());
  CHECK(one.read(0).bytes().ends_with("after\r\n"));
  const std::error_code code = co_await failure_of(one.write("x"));
  CHECK(code == std::errc::broken_pipe);
  terminal given =
      co_await place.open_terminal(where, terminal_options().run(command("cat; echo after").input("typed\n")));
  const exit_status second = co_await given.exited();
  CHECK(second.ok());
  CHECK(given.read(0).bytes().find("typed") != std::string::npos);
}

task<void> interrupted(context& place, handle where) {
  terminal one = co_await place.open_terminal(where, plain_shell());
  co_await shows(one, "prompt> ");
  co_await one.write("echo begun; sleep 60; echo nev''er\n");
  const pid_t shell = co_await pid_here(place, where, one.pid());
  const auto is_foreground = [shell] { return command_line_of(foreground_of(shell)) == "sleep 60"; };
  const bool sleeps = co_await becomes_true(is_foreground, 10s);
  CHECK(sleeps);
  const std::uint64_t begun = one.tail().next();
  co_await one.write("\x03");
  std::string since;
  while (since.find("prompt> ") == std::string::npos) {
    const log_piece piece = co_await one.follow(begun + since.size());
    since += piece.bytes();
  }
  co_await one.write("echo af''ter\n");
  const bool after = co_await shows(one, "after\r\n");
  CHECK(after);
  CHECK(one.read(0).bytes().find("never") == std::string::npos);
  co_await one.kill();
}

task<void> destroyed(context& place, handle where) {
  terminal one = co_await place.open_terminal(where, plain_shell());
  co_await shows(one, "prompt> ");
  co_await one.write("sleep 60 & setsid sleep 60 & echo pids $! $$\n");
  co_await one.wait_for_output(output_pattern::regex("^pids [0-9]+ [0-9]+$"), 10s);
  running<exit_status> waiting(place.get_executor(), one.exited());
  co_await place.destroy(where);
  const exit_status status = co_await waiting.result();
  CHECK(status == exit_status(end_reason::cancelled, 128 + SIGKILL, SIGKILL));
}

task<void> context_goes(context& place, handle) {
  std::unique_ptr<context> other = another_context(place);
  const handle there = co_await other->spawn();
  terminal one = co_await other->open_terminal(there, plain_shell());
  co_await shows(one, "prompt> ");
  auto shared = std::make_shared<terminal>(one);
  one.attach(0, [shared](std::string_view) {});
  other.reset();
  const exit_status status = co_await one.exited();
  CHECK(status.code() != 0);
}

task<void> start_that_failed(context& place, handle where) {
  terminal one = co_await place.open_terminal(where, terminal_options().run(argv("/nonexistent/program")));
  REQUIRE(one.status().has_value());
  CHECK(one.status()->reason() == end_reason::start_failed);
  const exit_status status = co_await one.exited();
  CHECK(status.code() == 127);
  terminal nowhere = co_await place.open_terminal(where, terminal_options().cwd("missing"));
  CHECK(nowhere.status()->reason() == end_reason::start_failed);
}

task<void> keyed(context& place, handle where) {
  const auto options = terminal_options().run(command("echo $$; cat").key("main"));
  terminal one = co_await place.open_terminal(where, options);
  terminal two = co_await place.open_terminal(where, options);
  CHECK(one.pid() == two.pid());
  CHECK(one.id() == "main");
  background other = co_await place.exec_background(where, command("sleep 60").key("main"));
  CHECK(other.pid() != one.pid());
  co_await two.kill();
  CHECK(one.status().has_value());
}

task<void> cancelled_open(context& place, handle where) {
  for (int turn = 0; turn < 8; ++turn) {
    running<terminal> opening(place.get_executor(), place.open_terminal(where));
    if (turn > 0) co_await pause_for(std::chrono::milliseconds(turn - 1));
    opening.cancel();
    try {
      terminal one = co_await opening.result();
      co_await one.kill();
    } catch (const std::system_error& failure) {
      CHECK(is_cancelled(failure.code()));
    }
  }
  for (const terminal& each : place.terminals(where)) CHECK(each.status().has_value());
}

constexpr contract_case terminal_table[] = {
    {"terminal: the default is the user's login shell, interactive", login_shell, 30s, needs::pids},
    {"terminal: the login shell is found without tools too", login_shell_of_nobody, 30s},
    {"terminal: a typed command is answered, and exit ends it", typed_command},
    {"terminal: its size is the one given, then the one of resize", size_and_resize},
    {"terminal: cwd, env and unset_env hold", surroundings},
    {"terminal: several readers and a callback see the same bytes", several_readers},
    {"terminal: a secret is typed, and is in nothing that is shown or thrown", secrets},
    {"terminal: detached, it goes on; attached again, it gives the scrollback from an offset", detached},
    {"terminal: a scrollback that ran over begins later and says where", scrollback_overrun},
    {"terminal: the end comes after all data, and no data after the end", order_of_the_end, 60s},
    {"terminal: kill begins with HUP and ends with KILL", hung_up, needs::kills_tree},
    {"terminal: 1 MiB is shown exactly", mebibyte, 30s},
    {"terminal: 400 000 bytes may be typed at once", typed_through, 30s},
    {"terminal: each write goes in whole, in the order in which they began", writes_in_order, 30s},
    {"terminal: end of file is typed, and a write after the end is a broken pipe", end_of_file},
    {"terminal: ^C interrupts what runs, not the shell", interrupted, needs::pids},
    {"terminal: destroy ends it with its jobs, as cancelled", destroyed},
    {"terminal: a context that goes takes it along, whatever its callback holds", context_goes},
    {"terminal: a start that failed is a value", start_that_failed},
    {"terminal: a key opens once, apart from background commands", keyed, needs::pids},
    {"terminal: opening may be cancelled at any moment", cancelled_open, 30s},
};

}  // namespace

std::span<const contract_case> terminal_cases() { return terminal_table; }

}  // namespace berth::contract
