#include "os/memory_image.hpp"

#include "os/helper_process.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
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

}  // namespace
}  // namespace berth::test
