#include "os/fd_reserve.hpp"

#include "support/proc_scan.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace berth::test {
namespace {

TEST_CASE("fd reserve: it holds what is expected, makes room for it, and holds the rest again") {
  const std::size_t before = open_descriptor_count();
  fd_reserve reserve;
  CHECK(reserve.expect(5));
  CHECK(open_descriptor_count() == before + 5);
  reserve.make_room(3);
  CHECK(open_descriptor_count() == before + 2);
  reserve.settle(2);
  reserve.refill();
  CHECK(open_descriptor_count() == before + 3);
  reserve.settle(3);
  CHECK(open_descriptor_count() == before);
}

TEST_CASE("fd reserve: too little room is said at once, and nothing stays held") {
  const std::size_t before = open_descriptor_count();
  rlimit old{};
  ::getrlimit(RLIMIT_NOFILE, &old);
  const int next = ::dup(0);
  ::close(next);
  rlimit tight = old;
  tight.rlim_cur = static_cast<rlim_t>(next) + 2;
  fd_reserve reserve;
  ::setrlimit(RLIMIT_NOFILE, &tight);
  const bool enough = reserve.expect(64);
  const int code = errno;
  ::setrlimit(RLIMIT_NOFILE, &old);
  CHECK_FALSE(enough);
  CHECK(code == EMFILE);
  CHECK(open_descriptor_count() == before);
}

}  // namespace
}  // namespace berth::test
