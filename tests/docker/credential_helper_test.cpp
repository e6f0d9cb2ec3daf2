#include "docker/credential_helper.hpp"

#include "support/async.hpp"
#include "support/temp_dir.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace berth;
using namespace berth::test;

namespace {

std::string write_helper(const temp_dir& at, const std::string& text) {
  const std::string path = at / "docker-credential-test";
  std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

task<std::error_code> code_of(std::string program, std::chrono::milliseconds time) {
  try {
    co_await ask_credential_helper(std::move(program), "r.io", time);
  } catch (const error& failure) {
    co_return failure.code();
  }
  co_return std::error_code();
}

}  // namespace

TEST_CASE("credential helper: is found in PATH by its name alone") {
  const temp_dir at;
  const std::string path = write_helper(at, "");
  const std::string folder = at.path().string();
  CHECK(find_credential_helper("test", "/nowhere:" + folder) == path);
  CHECK(find_credential_helper("other", folder).empty());
  CHECK(find_credential_helper("../test", folder).empty());
  CHECK(find_credential_helper("test", "relative:").empty());
}

ASYNC_TEST("credential helper: asks for the server, and is answered") {
  const temp_dir at;
  const std::string path =
      write_helper(at, R"(read -r server; [ "$1" = get ] && printf '{"Username":"%s","Secret":"s"}' "$server")");
  const auto login = co_await ask_credential_helper(path, "r.io");
  CHECK(login == registry_login{"r.io", "s", ""});
}

ASYNC_TEST("credential helper: one that has nothing is no failure, and others are") {
  const temp_dir at;
  CHECK_FALSE(co_await ask_credential_helper(
      write_helper(at, "echo 'credentials not found in native keychain'; exit 1"), "r.io"));
  const auto broken = co_await code_of(write_helper(at, "echo no keychain; exit 1"), std::chrono::seconds(30));
  CHECK(broken == errc::unavailable);
  const auto nonsense = co_await code_of(write_helper(at, "echo nonsense"), std::chrono::seconds(30));
  CHECK(nonsense == errc::protocol);
}

ASYNC_TEST("credential helper: one that hangs is killed") {
  const temp_dir at;
  const auto code = co_await code_of(write_helper(at, "exec sleep 1000"), std::chrono::milliseconds(100));
  CHECK(code == errc::timeout);
}
