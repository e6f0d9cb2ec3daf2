/// Files of the resident's verbs on file systems without nameless ones.
#include "resident/fresh_file.hpp"

#include "support/temp_dir.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>

using berth::test::read_whole_file;
using berth::test::temp_dir;
using berth::test::write_whole_file;

namespace fs = std::filesystem;
namespace resident = berth::resident;

/// In the program it ends it.
void berth::resident::refuse(file_reason, int, std::string_view) { throw std::runtime_error("refused"); }

namespace {

constexpr auto named = resident::fresh_file::kind::named;

int open_directory(const temp_dir& at) { return ::open(at.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

std::size_t entries_in(const temp_dir& at) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(at.path()), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("fresh file: under a temporary name it is whole or not there, too") {
  const temp_dir at;
  const resident::file_fd directory(open_directory(at));
  {
    resident::fresh_file dropped(directory.get(), 0600, {}, named);
    dropped.write("x");
    CHECK(entries_in(at) == 1);
  }
  CHECK(entries_in(at) == 0);
  {
    resident::fresh_file fresh(directory.get(), 0600, {}, named);
    fresh.write("new");
    CHECK(fresh.publish_new("f"));
  }
  {
    resident::fresh_file second(directory.get(), 0600, {}, named);
    second.write("newer");
    CHECK_FALSE(second.publish_new("f"));
    CHECK(read_whole_file(at / "f") == "new");
    second.publish("f");
  }
  CHECK(read_whole_file(at / "f") == "newer");
  CHECK(entries_in(at) == 1);
  fs::create_directory(at / "d");
  {
    resident::fresh_file refused(directory.get(), 0600, {}, named);
    CHECK_THROWS(refused.publish("d"));
  }
  CHECK(entries_in(at) == 2);
}

TEST_CASE("fresh file: signals that end the program remove the temporary name") {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    const temp_dir at;
    int told[2];
    REQUIRE(::pipe2(told, O_CLOEXEC) == 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      resident::watch_signals();
      resident::fresh_file fresh(open_directory(at), 0600, {}, named);
      fresh.write("half");
      const bool ok = ::write(told[1], "!", 1) == 1;
      while (ok) ::pause();
      ::_exit(1);
    }
    REQUIRE(pid > 0);
    ::close(told[1]);
    char ready = 0;
    CHECK(::read(told[0], &ready, 1) == 1);
    ::close(told[0]);
    CHECK(entries_in(at) == 1);
    ::kill(pid, number);
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 128 + number);
    CHECK(entries_in(at) == 0);
  }
}
