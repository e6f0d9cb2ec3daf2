#include "cli/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <utility>

extern char** environ;

namespace berth::test {
namespace {

using clock = std::chrono::steady_clock;

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return ends;
}

void close_one(int& fd) {
  if (fd != -1) ::close(std::exchange(fd, -1));
}

pid_t spawn(const words& argv, const std::array<int, 3>& streams) {
  std::vector<char*> list;
  for (const auto& word : argv) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd = 0; fd < 3; ++fd) posix_spawn_file_actions_adddup2(&actions, streams[static_cast<std::size_t>(fd)], fd);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t all;
  sigfillset(&all);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int failure = ::posix_spawn(&pid, list.front(), &actions, &attributes, list.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) throw std::system_error(failure, std::system_category(), argv.front());
  return pid;
}

words berth_words(words arguments) {
  arguments.insert(arguments.begin(), BERTH_PROGRAM);
  return arguments;
}

/// Gives the end of a program that has closed its streams, or kills it when the time has passed.
int wait_for(pid_t pid, clock::time_point deadline) {
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (clock::now() >= deadline) {
      FAIL_CHECK("the program did not end in its time");
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

program::program(words arguments) : program(exact_words{berth_words(std::move(arguments))}) {}
program::program(words arguments, int output) : program(exact_words{berth_words(std::move(arguments))}, output) {}

program program::shell(std::string text) { return any({"/bin/sh", "-c", std::move(text), BERTH_PROGRAM}); }

program::program(exact_words exact, int output) {
  const auto in = make_pipe();
  const auto out = make_pipe();
  const auto err = make_pipe();
  pid_ = spawn(exact.argv, {in[0], output == -1 ? out[1] : output, err[1]});
  for (const int fd : {in[0], out[1], err[1]}) ::close(fd);
  in_ = in[1];
  out_fd_ = out[0];
  err_fd_ = err[0];
}

program::~program() {
  for (int* fd : {&in_, &out_fd_, &err_fd_}) close_one(*fd);
  if (pid_ == -1) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void program::write(std::string_view bytes) {
  auto* const before = std::signal(SIGPIPE, SIG_IGN);
  while (!bytes.empty()) {
    const auto count = ::write(in_, bytes.data(), bytes.size());
    if (count <= 0) break;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  std::signal(SIGPIPE, before);
}

void program::close_input() { close_one(in_); }
void program::close_output() { close_one(out_fd_); }
void program::signal(int signo) const { ::kill(pid_, signo); }

bool program::read_some(clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
  std::array<pollfd, 2> streams{{{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}}};
  if ((out_fd_ == -1 && err_fd_ == -1) || left <= 0) return false;
  if (::poll(streams.data(), streams.size(), static_cast<int>(left)) <= 0) return errno == EINTR;
  for (std::size_t i = 0; i < 2; ++i) {
    if (streams[i].revents == 0) continue;
    std::array<char, 65536> buffer;
    const auto count = ::read(streams[i].fd, buffer.data(), buffer.size());
    if (count > 0)
      (i == 0 ? out_ : err_).append(buffer.data(), static_cast<std::size_t>(count));
    else
      close_one(i == 0 ? out_fd_ : err_fd_);
  }
  return true;
}

bool program::prints(std::string_view text, std::chrono::milliseconds limit) {
  const auto deadline = clock::now() + limit;
  while (out_.find(text) == std::string::npos) {
    if (!read_some(deadline)) return false;
  }
  return true;
}

program_end program::end(std::chrono::milliseconds limit) {
  close_input();
  const auto deadline = clock::now() + limit;
  while (read_some(deadline)) continue;
  const int code = wait_for(std::exchange(pid_, -1), deadline);
  return {code, out_, err_};
}

program_end berth_ends(words arguments, std::string_view input) {
  program berth(std::move(arguments));
  berth.write(input);
  return berth.end();
}

program_end shell_ends(std::string text) {
  auto started = program::shell(std::move(text));
  return started.end();
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto deadline = clock::now() + limit;
  while (!condition()) {
    if (clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

int count_lines(std::string_view text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace berth::test
