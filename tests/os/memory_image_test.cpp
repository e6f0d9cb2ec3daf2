#include "os/memory_image.hpp"

#include "os/helper_process.hpp"
#include "support/temp_dir.hpp"
#include "support/variable.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace berth::test {
namespace {

using namespace std::chrono_literals;

int exit_code_of(memory_image& image) {
  helper_options options;
  options.argv = {"false"};
  const helper_process child = helper_process::start(image, options);
  REQUIRE(child.wait_blocking(5s));
  return WEXITSTATUS(*child.status());
}

TEST_CASE("memory image: it runs, again and again, from one sealed descriptor") {
  const std::string program = read_whole_file("/bin/false");
  memory_image image("berth-test", program);
  CHECK(exit_code_of(image) == 1);
  const int fd = image.fd();
  CHECK(exit_code_of(image) == 1);
  CHECK(image.fd() == fd);
  if (image.made_of() == memory_image::kind::memory) {
    CHECK(::write(fd, "x", 1) < 0);
    CHECK(::fcntl(fd, F_GET_SEALS) != 0);
  }
  CHECK((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("memory image: where memfds are not executed it is a file, which nobody sees") {
  const std::string program = read_whole_file("/bin/false");
  memory_image image("berth-test", program);
  CHECK(image.fall_back());
  CHECK_FALSE(image.fall_back());
  CHECK(exit_code_of(image) == 1);
  CHECK(exit_code_of(image) == 1);
  CHECK(image.made_of() == memory_image::kind::file);
  CHECK(std::filesystem::is_empty(private_temporary_directory()));
}

TEST_CASE("memory image: its file never has a name by which another could open it for writing") {
  const temp_dir place;
  const variable_is here("TMPDIR", place.path().string());
  const unique_fd seen(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  REQUIRE(::inotify_add_watch(seen.get(), place.path().c_str(), IN_CREATE | IN_MOVED_TO | IN_DELETE) >= 0);
  const std::string program = read_whole_file("/bin/false");
  memory_image image("berth-test", program);
  REQUIRE(image.fall_back());
  struct stat file {
  }, directory{};
  REQUIRE(::fstat(image.fd(), &file) == 0);
  REQUIRE(::stat(place.path().c_str(), &directory) == 0);
  REQUIRE(file.st_dev == directory.st_dev);
  CHECK(file.st_nlink == 0);
  CHECK((::fcntl(image.fd(), F_GETFL) & O_ACCMODE) == O_RDONLY);
  alignas(inotify_event) char event[512];
  CHECK(::read(seen.get(), event, sizeof event) < 0);
  CHECK(::linkat(AT_FDCWD, memory_image::path(image.fd()).c_str(), AT_FDCWD, (place / "f").c_str(), AT_SYMLINK_FOLLOW) <
        0);
  CHECK(exit_code_of(image) == 1);
}

TEST_CASE("memory image: a directory without nameless files is passed over") {
  const variable_is here("TMPDIR", "/proc");
  const std::string program = read_whole_file("/bin/false");
  memory_image image("berth-test", program);
  REQUIRE(image.fall_back());
  CHECK(exit_code_of(image) == 1);
}

}  // namespace
}  // namespace berth::test
