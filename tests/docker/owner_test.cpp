#include "docker/owner.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

using namespace berth;

namespace {

owner_view here() { return {this_owner(), start_of_process}; }

}  // namespace

TEST_CASE("owner: labels there and back") {
  const owner_identity self = this_owner();
  CHECK(read_owner(labels_of(self)) == self);
  CHECK(self.key != this_owner().key);
  CHECK(self.pid == ::getpid());
}

TEST_CASE("owner: labels that are not whole are not ours") {
  const docker_labels all = labels_of(this_owner());
  for (std::size_t i = 0; i < all.size(); ++i) {
    docker_labels fewer = all;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK_FALSE(read_owner(fewer));
  }
  docker_labels odd = all;
  for (auto& [name, value] : odd) {
    if (name == "berth.owner.pid") value = "1 ";
  }
  CHECK_FALSE(read_owner(odd));
  CHECK_FALSE(read_owner({}));
}

TEST_CASE("owner: this process is alive") { CHECK(state_of(this_owner(), here()) == owner_state::alive); }

TEST_CASE("owner: one that has ended is dead, and so is one whose pid is another's now") {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  REQUIRE(child > 0);
  owner_identity gone = this_owner();
  gone.pid = child;
  gone.started = start_of_process(child).value_or(0);
  CHECK(::waitpid(child, nullptr, 0) == child);
  CHECK(state_of(gone, here()) == owner_state::dead);
  owner_identity other = this_owner();
  ++other.started;
  CHECK(state_of(other, here()) == owner_state::dead);
}

TEST_CASE("owner: of another machine or namespace nobody knows, but a machine that was started again has none") {
  owner_identity away = this_owner();
  away.namespace_ = "pid:[1]";
  CHECK(state_of(away, here()) == owner_state::unknown);
  away.boot = "another";
  CHECK(state_of(away, here()) == owner_state::dead);
  away.host = "another";
  CHECK(state_of(away, here()) == owner_state::unknown);
}

TEST_CASE("owner: names with blanks and parentheses are no trouble") {
  const pid_t child = ::fork();
  if (child == 0) {
    const char* const name = "a) b (c";
    if (::execl("/bin/sh", name, "-c", "printf 'x) 1 2' >/proc/self/comm; read -r line", nullptr) != 0) ::_exit(1);
  }
  REQUIRE(child > 0);
  CHECK(start_of_process(child).value_or(0) >= this_owner().started);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}
