/// What tests run: one small program, a verb a behaviour. `child VERB ARGUMENTS`.
///
/// Whatever waits for ever ends by itself after some minutes, so that a failed test does not litter.
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using words = std::vector<std::string>;

constexpr unsigned for_ever = 300;  // seconds

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "child: %s: %s\n", what, std::strerror(errno));
  _exit(99);
}

void write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write");
    data += n;
    size -= static_cast<std::size_t>(n);
  }
}

void say(int fd, const std::string& text) { write_all(fd, text.data(), text.size()); }

[[noreturn]] void wait_for_ever() {
  for (unsigned left = for_ever; left > 0;) left = sleep(left);
  _exit(98);
}

std::uint64_t number(const words& args, std::size_t at, std::uint64_t otherwise) {
  return at < args.size() ? std::strtoull(args[at].c_str(), nullptr, 10) : otherwise;
}

std::string word(const words& args, std::size_t at, const char* otherwise = "") {
  return at < args.size() ? args[at] : otherwise;
}

void sleep_ms(std::uint64_t milliseconds) { poll(nullptr, 0, static_cast<int>(milliseconds)); }

// ---- output ----

/// echo WORDS / error WORDS
int echo(int fd, const words& args) {
  std::string line;
  for (const std::string& each : args) line += (line.empty() ? "" : " ") + each;
  say(fd, line + "\n");
  return 0;
}

/// bytes: all 256 values, then two NULs, no newline
int bytes(const words&) {
  std::string all;
  for (int value = 0; value < 256; ++value) all.push_back(static_cast<char>(value));
  all.append(2, '\0');
  say(1, all);
  return 0;
}

/// flood COUNT [FD]: byte i is i % 251
int flood(const words& args) {
  constexpr std::size_t block = 251 * 1024;
  std::string pattern;
  for (std::size_t i = 0; i < block; ++i) pattern.push_back(static_cast<char>(i % 251));
  const int fd = static_cast<int>(number(args, 1, 1));
  for (std::uint64_t left = number(args, 0, 0); left > 0;) {
    const std::size_t now = left < block ? left : block;
    write_all(fd, pattern.data(), now);
    left -= now;
  }
  return 0;
}

/// tiny COUNT: as many writes of one byte; byte i is i % 251
int tiny(const words& args) {
  for (std::uint64_t i = 0, count = number(args, 0, 1); i < count; ++i) {
    const char byte = static_cast<char>(i % 251);
    write_all(1, &byte, 1);
  }
  return 0;
}

/// interleave COUNT: "o0\n" on 1, "e0\n" on 2, "o1\n" ...
int interleave(const words& args) {
  for (std::uint64_t i = 0, count = number(args, 0, 1); i < count; ++i) {
    say(1, "o" + std::to_string(i) + "\n");
    say(2, "e" + std::to_string(i) + "\n");
  }
  return 0;
}

/// trickle COUNT MILLISECONDS: a "." at a time
int trickle(const words& args) {
  for (std::uint64_t i = 0, count = number(args, 0, 1); i < count; ++i) {
    sleep_ms(number(args, 1, 10));
    write_all(1, ".", 1);
  }
  return 0;
}

/// repeat COUNT TEXT: each time in a write of its own
int repeat(const words& args) {
  for (std::uint64_t i = 0, count = number(args, 0, 1); i < count; ++i) say(1, word(args, 1));
  return 0;
}

// ---- input ----

int cat(const words&) {
  static char buffer[65536];
  for (ssize_t n = 0; (n = read(0, buffer, sizeof buffer)) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read");
    write_all(1, buffer, static_cast<std::size_t>(n));
  }
  return 0;
}

/// close FDS..: closes them, says "closed" on what is left of 1 and 2, and lives on for MILLISECONDS: close MS FDS..
int close_and_live(const words& args) {
  bool closed[3] = {};
  for (std::size_t i = 1; i < args.size(); ++i) {
    const int fd = static_cast<int>(number(args, i, 0));
    if (fd >= 0 && fd < 3) closed[fd] = true;
    close(fd);
  }
  if (!closed[1]) say(1, "closed\n");
  sleep_ms(number(args, 0, 0));
  return 7;
}

// ---- signals ----

volatile sig_atomic_t last_signal = 0;

void on_signal(int signo) { last_signal = signo; }

/// trap: says "ready", then "got N" for each of HUP INT TERM USR1 USR2; ends with 0 after USR2
int trap(const words&) {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signo : {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2}) {
    sigaction(signo, &action, nullptr);
    sigaddset(&watched, signo);
  }
  sigset_t before;
  sigprocmask(SIG_BLOCK, &watched, &before);
  say(1, "ready\n");
  while (last_signal != SIGUSR2) {
    last_signal = 0;
    sigsuspend(&before);
    if (last_signal != 0) say(1, "got " + std::to_string(static_cast<int>(last_signal)) + "\n");
  }
  return 0;
}

void ignore_polite_signals() {
  for (const int signo : {SIGHUP, SIGINT, SIGTERM}) signal(signo, SIG_IGN);
}

// ---- processes ----

void into_the_void() {
  const int null = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(null, fd);
  if (null > 2) close(null);
}

void report(int fd) {
  const pid_t pid = getpid();
  write_all(fd, reinterpret_cast<const char*>(&pid), sizeof pid);
}

enum class escape { plain, ignores, session, twice, empty_environment, stopped };
constexpr escape all_escapes[] = {escape::plain, escape::ignores,           escape::session,
                                  escape::twice, escape::empty_environment, escape::stopped};

/// In a child: gets away from its parent in one way, reports its pid, and stays.
[[noreturn]] void run_away(escape how, int report_fd, bool quiet) {
  if (quiet) into_the_void();
  if (how == escape::ignores) ignore_polite_signals();
  if (how == escape::session || how == escape::twice || how == escape::empty_environment) setsid();
  if (how == escape::twice && fork() != 0) _exit(0);
  report(report_fd);
  if (how == escape::empty_environment) {
    char program[] = "child", verb[] = "stay";
    char* const argv[] = {program, verb, nullptr};
    char* const environment[] = {nullptr};
    execve("/proc/self/exe", argv, environment);
    fail("execve");
  }
  close(report_fd);
  if (how == escape::stopped) raise(SIGSTOP);
  wait_for_ever();
}

/// tree STAY|LEAVE [quiet]: starts one process in each way of getting away from its parent, says "pids P P P ...", its own first,
/// and waits, or leaves them; quiet ones hold no pipe.
int tree(const words& args) {
  int pids[2];
  if (pipe2(pids, O_CLOEXEC) != 0) fail("pipe");
  for (const escape how : all_escapes) {
    const pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) run_away(how, pids[1], word(args, 1) == "quiet");
  }
  std::string line = "pids " + std::to_string(getpid());
  for (std::size_t i = 0; i < std::size(all_escapes); ++i) {
    pid_t pid = 0;
    if (read(pids[0], &pid, sizeof pid) != sizeof pid) fail("read");
    line += " " + std::to_string(pid);
  }
  say(1, line + "\n");
  if (word(args, 0) == "stay") wait_for_ever();
  return 0;
}

/// hold [MILLISECONDS]: a child keeps the pipes open; says "pids P" (the child) and exits
int hold(const words& args) {
  const pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    sleep_ms(number(args, 0, for_ever * 1000));
    _exit(0);
  }
  say(1, "pids " + std::to_string(pid) + "\n");
  return 0;
}

struct shared_counts {
  std::atomic<int> alive;
  std::atomic<long> total;
};

/// Each process starts the next and ends: pids change all the time, and no parent is there for long.
[[noreturn]] void hop(shared_counts* counts, long cap) {
  while (true) {
    if (counts->total.load() >= cap) wait_for_ever();
    if (counts->alive.fetch_add(1) >= 100) {
      counts->alive.fetch_sub(1);
      sleep_ms(1);
      continue;
    }
    const pid_t pid = fork();
    if (pid == 0) {
      counts->total.fetch_add(1);
      continue;
    }
    counts->alive.fetch_sub(1);
    if (pid > 0) _exit(0);
    sleep_ms(1);
  }
}

/// Root becomes another user, as it is not bound by the limit; false where there is no other, as in most user namespaces.
bool become_bounded() {
  const rlimit few = {200, 200};
  const uid_t uid = 60000 + static_cast<uid_t>(getpid()) % 5000;
  if (setrlimit(RLIMIT_NPROC, &few) != 0) fail("setrlimit");
  return setgroups(0, nullptr) == 0 && setgid(uid) == 0 && setuid(uid) == 0;
}

/// bomb [TOTAL]: 30 lines of processes that fork and end, until TOTAL were started; by its own count never more than 130 at once,
/// and where root can become another user the kernel holds it to 200. Says "ready".
int bomb(const words& args) {
  const bool bounded = geteuid() == 0 && become_bounded();
  const auto total = static_cast<long>(number(args, 0, bounded ? 20000 : 10000));
  void* memory = mmap(nullptr, sizeof(shared_counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("mmap");
  auto* counts = new (memory) shared_counts{};
  for (int i = 0; i < 30; ++i) {
    pid_t pid = 0;
    while ((pid = fork()) < 0) sleep_ms(1);  // those that ended count until they are reaped
    if (pid != 0) continue;
    if (i % 3 == 0) setsid();
    ++counts->alive;
    hop(counts, total);
  }
  while (counts->total < 100) sleep_ms(1);
  say(1, "ready\n");
  wait_for_ever();
}

// ---- what it was given ----

/// descriptors: a line "FD" for each open one
int descriptors(const words&) {
  for (int fd = 0; fd < 4096; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) say(1, std::to_string(fd) + "\n");
  }
  return 0;
}

/// variable NAME: its value exactly, or exit code 3 where it is not set
int variable(const words& args) {
  const char* value = std::getenv(word(args, 0).c_str());
  if (value == nullptr) return 3;
  say(1, value);
  return 0;
}

/// signals: "ignored 0" and "blocked 0" where the command was given no ignored and no blocked signal
int signals(const words&) {
  int ignored = 0, blocked = 0;
  sigset_t mask;
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  for (int signo = 1; signo < 32; ++signo) {
    struct sigaction action = {};
    if (sigaction(signo, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) ++ignored;
    if (sigismember(&mask, signo) == 1) ++blocked;
  }
  say(1, "ignored " + std::to_string(ignored) + "\nblocked " + std::to_string(blocked) + "\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  const words args(argv + (argc > 1 ? 2 : 1), argv + argc);
  if (verb == "echo") return echo(1, args);
  if (verb == "error") return echo(2, args);
  if (verb == "bytes") return bytes(args);
  if (verb == "flood") return flood(args);
  if (verb == "tiny") return tiny(args);
  if (verb == "interleave") return interleave(args);
  if (verb == "trickle") return trickle(args);
  if (verb == "repeat") return repeat(args);
  if (verb == "cat") return cat(args);
  if (verb == "close") return close_and_live(args);
  if (verb == "trap") return trap(args);
  if (verb == "tree") return tree(args);
  if (verb == "hold") return hold(args);
  if (verb == "bomb") return bomb(args);
  if (verb == "descriptors") return descriptors(args);
  if (verb == "variable") return variable(args);
  if (verb == "signals") return signals(args);
  if (verb == "exit") return static_cast<int>(number(args, 0, 0));
  if (verb == "sleep") sleep_ms(number(args, 0, 0));
  if (verb == "ignore-term") ignore_polite_signals();
  if (verb == "ignore-term") say(1, "ready\n");
  if (verb == "stay" || verb == "ignore-term") wait_for_ever();
  return verb == "sleep" ? 0 : 97;
}
