#include "isolation/git_link.hpp"

#include "os/unique_fd.hpp"
#include "support/temp_dir.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

namespace {

/// Swaps two names without a pause. Should somebody be caught by a fifo among them, it lets them go and remembers.
class swapping {
 public:
  swapping(std::string one, std::string other) : one_(std::move(one)), other_(std::move(other)) {}
  swapping(const swapping&) = delete;
  swapping& operator=(const swapping&) = delete;
  ~swapping() {
    is_over_ = true;
    thread_.join();
  }

  /// The other one is not stuck.
  void progress() { ++steps_; }
  bool caught_somebody() const { return caught_; }

 private:
  void run() {
    std::uint64_t seen = 0;
    auto since = std::chrono::steady_clock::now();
    while (!is_over_) {
      ::renameat2(AT_FDCWD, one_.c_str(), AT_FDCWD, other_.c_str(), RENAME_EXCHANGE);
      if (steps_ != seen) {
        seen = steps_;
        since = std::chrono::steady_clock::now();
      } else if (std::chrono::steady_clock::now() - since > std::chrono::seconds(5)) {
        for (const std::string& each : {one_, other_}) {
          const int fd = ::open(each.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
          if (fd >= 0) caught_ = true;
          if (fd >= 0) ::close(fd);
        }
      }
    }
  }

  const std::string one_, other_;
  std::atomic<std::uint64_t> steps_ = 0;
  std::atomic<bool> is_over_ = false, caught_ = false;
  std::thread thread_{[this] { run(); }};
};

}  // namespace

TEST_CASE("git link: a fifo that takes the place of the file in between holds nobody up") {
  const temp_dir at;
  fs::create_directory(at / "x");
  write_whole_file(at / ".git", "gitdir: x");
  REQUIRE(::mkfifo((at / "fifo").c_str(), 0600) == 0);
  swapping swap(at / ".git", at / "fifo");
  int found = 0;
  for (int i = 0; i < 3000 && !swap.caught_somebody(); ++i) {
    found += read_git_link(at / ".git") ? 1 : 0;
    swap.progress();
  }
  CHECK_FALSE(swap.caught_somebody());
  CHECK(found > 0);
}

TEST_CASE("git link: a file under a lease is neither waited for nor taken for an empty one") {
  const temp_dir at;
  fs::create_directory(at / "x");
  write_whole_file(at / ".git", "gitdir: x");
  const auto before = std::signal(SIGIO, SIG_IGN);
  const unique_fd held(::open((at / ".git").c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(::fcntl(held.get(), F_SETLEASE, F_WRLCK) == 0);
  CHECK_THROWS_AS((void)read_git_link(at / ".git"), error);
  REQUIRE(::fcntl(held.get(), F_SETLEASE, F_UNLCK) == 0);
  CHECK(read_git_link(at / ".git"));
  std::signal(SIGIO, before);
}
