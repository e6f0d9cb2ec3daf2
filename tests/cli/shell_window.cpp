#include "cli/shell_window.hpp"

#include "cli/program.hpp"
#include "support/proc_scan.hpp"

#include <filesystem>

namespace berth::test {
namespace {

std::string text_around(const std::string& directory, const std::string& arguments) {
  return "cd '" + directory + "'; LC_ALL=C.UTF-8; export LC_ALL; stty -g >before; \"$BERTH\" shell " + arguments +
         "; echo \"code $?\"; stty -g >after; echo >ended; exec sleep 1000";
}

pid_t parent_of(pid_t pid) {
  for (const auto& process : all_processes()) {
    if (process.pid == pid) return process.parent;
  }
  return 0;
}

}  // namespace

shell_window::shell_window(const std::string& arguments, int columns, int rows)
    : window_(text_around(directory_.path().string(), arguments), columns, rows) {}

pid_t shell_window::number_in(const std::string& name) const {
  const auto is_written = [&] {
    return std::filesystem::exists(file(name)) && read_whole_file(file(name)).ends_with('\n');
  };
  CAPTURE(name);
  CAPTURE(window_.screen());
  REQUIRE(eventually(is_written));
  return std::stoi(read_whole_file(file(name)));
}

pid_t shell_window::find_berth() const {
  window_.await("inner>");
  window_.enter("echo $$ >shell; echo $PPID >resident");
  number_in("shell");
  const pid_t berth = parent_of(number_in("resident"));
  REQUIRE(command_line_of(berth).find("shell") != std::string::npos);
  return berth;
}

void shell_window::await_end(int code) const {
  window_.await("code " + std::to_string(code) + "\n");
  REQUIRE(eventually([&] { return std::filesystem::exists(file("ended")); }));
  CHECK(read_whole_file(file("after")) == read_whole_file(file("before")));
}

}  // namespace berth::test
