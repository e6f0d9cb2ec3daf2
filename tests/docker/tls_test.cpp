/// A daemon that wants TLS with a client's certificate.
#include "docker/places.hpp"
#include "support/variable.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::test;

namespace {

bool has_tls(const char* sentence) {
  if (!variable("BERTH_TEST_TLS").empty()) return true;
  std::printf("SKIPPED: %s: no openssl\n", sentence);
  return false;
}

}  // namespace

DOCKER_TEST("tls: commands over a daemon that wants a certificate") {
  if (!has_tls("tls: commands over a daemon that wants a certificate")) co_return;
  const variable_is verify("DOCKER_TLS_VERIFY", "1");
  const variable_is certificates("DOCKER_CERT_PATH", variable("BERTH_TEST_CERTS"));
  context place = make_place(io, small_container(variable("BERTH_TEST_TLS")), true);
  const handle where = co_await place.spawn();
  const exec_result result = co_await place.exec(where, command("cat; echo err >&2; exit 3").input("in\n"));
  CHECK(result.std_out == "in\n");
  CHECK(result.std_err == "err\n");
  CHECK(result.status.code() == 3);
  const exec_result much = co_await place.exec(where, command("head -c 3000000 /dev/zero"));
  CHECK(much.out.seen() == 3000000);
  co_await place.destroy(where);
  const auto left = co_await containers_of_test(io, daemon);
  CHECK(left.empty());
}

DOCKER_TEST("tls: without a certificate the daemon refuses, and the error says where") {
  if (!has_tls("tls: without a certificate the daemon refuses, and the error says where")) co_return;
  const variable_is tls("DOCKER_TLS", "1");
  const variable_is certificates("DOCKER_CERT_PATH", "/nonexistent");
  context place = make_place(io, small_container(variable("BERTH_TEST_TLS")), true);
  std::string message;
  try {
    co_await place.spawn();
  } catch (const error& failure) {
    CHECK(failure.code() == errc::unavailable);
    message = failure.what();
  }
  CHECK(message.find(variable("BERTH_TEST_TLS")) != message.npos);
  CHECK(message.find("certificate") != message.npos);
}
