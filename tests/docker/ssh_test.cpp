/// A daemon behind a real ssh.
#include "cli/program.hpp"
#include "docker/places.hpp"
#include "support/skipping.hpp"
#include "support/variable.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace berth;
using namespace berth::test;

namespace {

bool has_no_ssh() {
  const std::string why = variable("BERTH_TEST_NO_SSH");
  if (!why.empty()) skip(why);
  return !why.empty();
}

std::string path_with_ssh() { return variable("BERTH_TEST_SSH_PATH") + ":" + variable("PATH"); }

}  // namespace

DOCKER_TEST("ssh: commands in a container, their streams, input and files") {
  if (has_no_ssh()) co_return;
  const variable_is path("PATH", path_with_ssh());
  context place = make_place(io, small_container(variable("BERTH_TEST_SSH")), true);
  const handle where = co_await place.spawn();
  const exec_result result = co_await place.exec(where, command("cat; echo err >&2; exit 3").input("over ssh"));
  CHECK(result.status == exit_status::exited(3));
  CHECK(result.std_out == "over ssh");
  CHECK(result.std_err == "err\n");
  const exec_result much = co_await place.exec(where, command("head -c 3000000 /dev/zero"));
  CHECK(much.out.seen() == 3000000);
  co_await place.write_file(where, "file", "bytes");
  const std::string read = co_await place.read_file(where, "file");
  CHECK(read == "bytes");
  co_await place.destroy(where);
  const auto left = co_await containers_of_test(io, daemon);
  CHECK(left.empty());
}

DOCKER_TEST("ssh: where there is no connection, what it says is told") {
  if (has_no_ssh()) co_return;
  const variable_is path("PATH", path_with_ssh());
  std::string address = variable("BERTH_TEST_SSH");
  address.replace(address.find("root@"), 5, "nobody@");
  const auto refused = berth_ends({"exec", "--docker-host", address, "--image", "test/busybox:1", "true"});
  CAPTURE(refused.err);
  CHECK(refused.code == 125);
  CHECK(refused.err.find("no Docker daemon answers: ssh://nobody@127.0.0.1:") != std::string::npos);
  CHECK(refused.err.find("(ssh says: nobody@127.0.0.1: Permission denied") != std::string::npos);
  CHECK(count_lines(refused.err) == 1);
  co_return;
}

DOCKER_TEST("ssh: a connection that cannot be made is told") {
  if (has_no_ssh()) co_return;
  const variable_is path("PATH", path_with_ssh());
  const auto refused = berth_ends({"exec", "--docker-host", "ssh://127.0.0.1:1", "--image", "test/busybox:1", "true"});
  CAPTURE(refused.err);
  CHECK(refused.code == 125);
  CHECK(refused.err.find("Connection refused") != std::string::npos);
  co_return;
}
