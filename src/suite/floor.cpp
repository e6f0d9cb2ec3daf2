#include "suite/floor.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace berth::suite {
namespace {

[[noreturn]] void throw_errno(int code, const std::string& what) {
  throw std::system_error(code, std::generic_category(), what);
}

std::vector<char*> pointers_to(const std::vector<std::string>& argv) {
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  return words;
}

/// Its wait status; a signal for us may interrupt the wait.
int ended(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) != pid) {
    if (errno != EINTR) throw_errno(errno, "waitpid");
  }
  return status;
}

}  // namespace

pid_t start_bare(const std::vector<std::string>& argv, int std_out) {
  const auto words = pointers_to(argv);
  volatile int exec_error = 0;  // the child writes it into our memory
  const pid_t pid = ::vfork();
  if (pid == 0) {
    if (std_out >= 0) ::dup2(std_out, STDOUT_FILENO);
    ::execve(words[0], words.data(), environ);
    exec_error = errno;
    ::_exit(127);
  }
  if (pid < 0) throw_errno(errno, "vfork");
  if (exec_error == 0) return pid;
  (void)ended(pid);
  throw_errno(exec_error, argv[0]);
}

pid_t start_on_terminal(const std::vector<std::string>& argv, const std::string& terminal) {
  const auto words = pointers_to(argv);
  const pid_t pid = ::fork();
  if (pid < 0) throw_errno(errno, "fork");
  if (pid > 0) return pid;
  ::setsid();
  const int fd = ::open(terminal.c_str(), O_RDWR);  // a leader without a terminal gets it by opening it
  for (int standard = 0; standard < 3; ++standard) ::dup2(fd, standard);
  if (fd > STDERR_FILENO) ::close(fd);
  ::execve(words[0], words.data(), environ);
  ::_exit(127);
}

void wait_bare(pid_t pid) {
  const int status = ended(pid);
  if (status != 0) throw std::runtime_error("wait status " + std::to_string(status));
}

bare_pipe::bare_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno(errno, "pipe2");
  read_end = ends[0];
  write_end = ends[1];
}

bare_pipe::~bare_pipe() {
  ::close(read_end);
  close_write_end();
}

void bare_pipe::close_write_end() {
  if (write_end >= 0) ::close(write_end);
  write_end = -1;
}

std::size_t read_some(int fd, char* into, std::size_t size) {
  ssize_t got = 0;
  do {
    got = ::read(fd, into, size);
  } while (got < 0 && errno == EINTR);
  if (got < 0) throw_errno(errno, "read");
  return static_cast<std::size_t>(got);
}

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace berth::suite
