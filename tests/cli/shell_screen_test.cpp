// Programs that draw, inside `berth shell`, through resizes.

#include "cli/program.hpp"
#include "cli/shell_window.hpp"

#include <algorithm>

using namespace berth::test;

namespace {

using screen_rows = std::vector<std::string>;

/// Waits until the last of so many rows begins so: there programs put what they ask.
void await_last_row(const shell_window& window, std::size_t count, const std::string& begin) {
  const auto is_so = [&](const screen_rows& rows) { return rows.size() == count && rows.back().starts_with(begin); };
  window.terminal().await_rows(is_so, "the last row");
}

std::string numbered_lines() {
  std::string text;
  for (int i = 1; i <= 2000; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

bool has_programs(const char* sentence, const std::string& program) {
  if (!tmux_window::is_there(sentence)) return false;
  if (shell_ends("command -v " + program).code == 0) return true;
  std::printf("SKIPPED: %s: no %s\n", sentence, program.c_str());
  return false;
}

}  // namespace

TEST_CASE("shell: vi edits a file, through a resize") {
  if (!has_programs("shell: vi edits a file, through a resize", "vi")) return;
  nothing_left guard;
  shell_window window("vi -u NONE -N -n file");
  window.terminal().await("~\n~\n");
  window.terminal().type("ifirst");
  window.terminal().await("first");
  window.terminal().press("Escape");
  window.terminal().resize(100, 40);
  const auto is_larger = [](const screen_rows& rows) { return rows.size() == 40 && rows.at(38) == "~"; };
  window.terminal().await_rows(is_larger, "~ in the last row but one");
  window.terminal().type("osecond");
  window.terminal().press("Escape");
  window.terminal().type(":w");
  await_last_row(window, 40, ":w");
  window.terminal().press("Enter");
  await_last_row(window, 40, "\"file\"");
  window.terminal().resize(60, 20);
  window.terminal().await_rows([](const screen_rows& rows) { return rows.size() == 20 && rows.at(18) == "~"; },
                               "~ in row 19");
  window.terminal().type(":q");
  await_last_row(window, 20, ":q");
  window.terminal().press("Enter");
  window.await_end(0);
  CHECK(read_whole_file(window.file("file")) == "first\nsecond\n");
}

TEST_CASE("shell: less pages and searches, through a resize") {
  if (!has_programs("shell: less pages and searches, through a resize", "less")) return;
  nothing_left guard;
  shell_window window;
  window.terminal().await("inner>");
  write_whole_file(window.file("file"), numbered_lines());
  window.terminal().enter("less file");
  await_last_row(window, 24, "file");
  window.terminal().press("Space");
  window.terminal().await_rows([](const screen_rows& rows) { return rows.front() == "line 24"; }, "the second page");
  window.terminal().enter("/line 777");
  window.terminal().await_rows([](const screen_rows& rows) { return rows.front() == "line 777"; }, "what was found");
  window.terminal().resize(100, 40);
  window.terminal().await_rows([](const screen_rows& rows) { return rows.size() == 40 && rows.at(38) == "line 815"; },
                               "a larger page");
  window.terminal().press("q");
  window.terminal().await("inner>");
  window.terminal().press("C-d");
  window.await_end(0);
}

TEST_CASE("shell: top draws itself again when the size changes") {
  if (!has_programs("shell: top draws itself again when the size changes", "top")) return;
  nothing_left guard;
  shell_window window("top -d 1", 80, 24);
  window.terminal().await("load average");
  const auto fills = [](std::size_t count) {
    return [count](const screen_rows& rows) {
      return rows.size() == count && rows.front().starts_with("top - ") &&
             rows.at(6).find("PID USER") != std::string::npos;
    };
  };
  window.terminal().await_rows(fills(24), "24 rows of top");
  window.terminal().resize(120, 12);
  window.terminal().await_rows(fills(12), "12 rows of top");
  window.terminal().resize(100, 30);
  window.terminal().await_rows(fills(30), "30 rows of top");
  window.terminal().press("q");
  window.await_end(0);
}

TEST_CASE("shell: tmux runs inside, and its server ends with us") {
  if (!has_programs("shell: tmux runs inside, and its server ends with us", "tmux")) return;
  nothing_left guard;
  shell_window window;
  window.terminal().await("inner>");
  window.terminal().enter("unset TMUX; PS1='deep> ' tmux -S nested -f /dev/null new-session 'sh -i'");
  await_last_row(window, 24, "[0] 0:");
  window.terminal().await("deep>");
  window.terminal().enter("echo $((40 + 2)) is it; stty size");
  window.terminal().await("42 is it\n23 80");
  window.terminal().resize(100, 40);
  await_last_row(window, 40, "[0] 0:");
  window.terminal().enter("sh -c 'while sleep 0.1; do clear; stty size; done'");
  window.terminal().await("39 100");
  window.terminal().press("C-c");
  window.terminal().press("C-b");
  window.terminal().press("d");
  window.terminal().await("[detached");
  window.terminal().press("C-d");
  window.await_end(0);
}
