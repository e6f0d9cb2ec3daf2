#include "floor.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace berth::bench {

pid_t start_bare(const std::vector<std::string>& argv, int std_out) {
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  volatile int exec_error = 0;  // the child writes it into our memory
  const pid_t pid = ::vfork();
  if (pid == 0) {
    if (std_out >= 0) ::dup2(std_out, STDOUT_FILENO);
    ::execve(words[0], words.data(), environ);
    exec_error = errno;
    ::_exit(127);
  }
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "vfork");
  if (exec_error == 0) return pid;
  ::waitpid(pid, nullptr, 0);
  throw std::system_error(exec_error, std::generic_category(), argv[0]);
}

void wait_bare(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) throw std::system_error(errno, std::generic_category(), "waitpid");
  if (status != 0) throw std::runtime_error("wait status " + std::to_string(status));
}

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace berth::bench
