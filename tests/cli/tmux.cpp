#include "cli/tmux.hpp"

#include "cli/program.hpp"

#include <cstdio>
#include <sstream>
#include <utility>

namespace berth::test {
namespace {

constexpr const char* settings =
    "set -g status off\n"
    "set -g remain-on-exit on\n"
    "set -sg escape-time 0\n"
    "set -g default-shell /bin/sh\n";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(line);
  }
  return lines;
}

std::string size_text(int number) { return std::to_string(number); }

}  // namespace

tmux_window::tmux_window(const std::string& shell_text, int columns, int rows) {
  write_whole_file(directory_ / "settings", settings);
  const std::string begin = std::string("BERTH='") + BERTH_PROGRAM + "'; export BERTH; ";
  call({"new-session", "-d", "-x", size_text(columns), "-y", size_text(rows), begin + shell_text});
}

tmux_window::~tmux_window() { call({"kill-server"}); }

bool tmux_window::is_there(const char* sentence) {
  if (shell_ends("tmux -V").code == 0) return true;
  std::printf("SKIPPED: %s: no tmux\n", sentence);
  return false;
}

std::string tmux_window::call(std::vector<std::string> request) const {
  words argv{"/usr/bin/env", "tmux", "-S", directory_ / "server", "-f", directory_ / "settings"};
  argv.insert(argv.end(), request.begin(), request.end());
  auto tmux = program::any(std::move(argv));
  const auto done = tmux.end();
  CAPTURE(request.front());
  CHECK(done.code == 0);
  CHECK(done.err == "");
  return done.out;
}

void tmux_window::type(std::string_view text) const { call({"send-keys", "-l", "--", std::string(text)}); }
void tmux_window::press(const std::string& key) const { call({"send-keys", key}); }

void tmux_window::enter(std::string_view line) const {
  type(line);
  press("Enter");
}

void tmux_window::paste(std::string_view bytes) const {
  write_whole_file(directory_ / "pasted", bytes);
  call({"load-buffer", directory_ / "pasted"});
  call({"paste-buffer"});
}

void tmux_window::resize(int columns, int rows) const {
  call({"resize-window", "-x", size_text(columns), "-y", size_text(rows)});
}

std::string tmux_window::screen() const {
  std::string text;
  for (const auto& line : lines_of(call({"capture-pane", "-p", "-J"}))) text += line + '\n';
  return text;
}

std::vector<std::string> tmux_window::rows() const { return lines_of(call({"capture-pane", "-p"})); }

void tmux_window::await(std::string_view text) const {
  const bool is_seen = eventually([&] { return screen().find(text) != std::string::npos; });
  CAPTURE(text);
  CAPTURE(screen());
  REQUIRE(is_seen);
}

void tmux_window::await_rows(const std::function<bool(const std::vector<std::string>&)>& are_so,
                             const char* what) const {
  const bool is_seen = eventually([&] { return are_so(rows()); });
  CAPTURE(what);
  CAPTURE(screen());
  REQUIRE(is_seen);
}

}  // namespace berth::test
