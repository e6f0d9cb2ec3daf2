#include "support/proc_scan.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <sstream>

namespace berth::test {
namespace {

bool parse_stat(const std::string& text, process_info& info) {
  // The name may hold blanks and parentheses: it ends at the last one.
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return false;
  info.pid = static_cast<pid_t>(std::atoi(text.c_str()));
  info.name = text.substr(open + 1, close - open - 1);
  std::istringstream rest(text.substr(close + 1));
  rest >> info.state >> info.parent >> info.group >> info.session;
  return static_cast<bool>(rest);
}

}  // namespace

std::size_t open_descriptor_count() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1;
}

std::string proc_file(pid_t pid, const std::string& name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  close(fd);
  return text;
}

std::vector<process_info> all_processes() {
  std::vector<process_info> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), closedir);
  if (!proc) return found;
  while (const dirent* entry = readdir(proc.get())) {
    const int pid = std::atoi(entry->d_name);
    process_info info;
    if (pid > 0 && parse_stat(proc_file(pid, "stat"), info)) found.push_back(std::move(info));
  }
  return found;
}

bool is_alive(pid_t pid) {
  process_info info;
  return parse_stat(proc_file(pid, "stat"), info) && !info.dead();
}

std::string variable_of(pid_t pid, const std::string& name) {
  const std::string all = '\0' + proc_file(pid, "environ");
  const std::string wanted = '\0' + name + '=';
  const auto at = all.find(wanted);
  return at == std::string::npos ? std::string() : std::string(all.c_str() + at + wanted.size());
}

std::uint64_t tag_of(pid_t pid) {
  const std::string limits = proc_file(pid, "limits");
  const auto row = limits.find("Max file locks");
  if (row == std::string::npos) return 0;
  return std::strtoull(limits.c_str() + row + std::strlen("Max file locks"), nullptr, 10);
}

std::string pid_namespace_of(pid_t pid) {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/ns/pid", ignored).string();
}

pid_t innermost_pid_of(pid_t pid) {
  const std::string status = proc_file(pid, "status");
  const auto row = status.find("\nNSpid:");
  if (row == std::string::npos) return 0;
  std::istringstream numbers(status.substr(row + 7, status.find('\n', row + 1) - row - 7));
  pid_t last = 0;
  for (pid_t number = 0; numbers >> number;) last = number;
  return last;
}

std::string command_line_of(pid_t pid) {
  std::string line = proc_file(pid, "cmdline");
  while (!line.empty() && line.back() == '\0') line.pop_back();
  for (char& byte : line) {
    if (byte == '\0') byte = ' ';
  }
  return line.substr(0, 200);
}

pid_t foreground_of(pid_t pid) {
  const std::string stat = proc_file(pid, "stat");
  const auto close = stat.rfind(')');
  if (close == std::string::npos) return -1;
  std::istringstream rest(stat.substr(close + 1));
  std::string skipped;
  pid_t group = -1;
  for (int field = 0; field < 5; ++field) rest >> skipped;
  rest >> group;
  return group;
}

std::string describe(const process_info& process) {
  std::ostringstream text;
  text << "pid " << process.pid << " (" << process.name << ", " << process.state << ", parent " << process.parent
       << "): " << command_line_of(process.pid);
  return text.str();
}

}  // namespace berth::test
