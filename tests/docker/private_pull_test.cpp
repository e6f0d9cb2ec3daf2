/// Pulls from a registry that wants a login, which comes from each of the places where the docker command keeps one.
#include "cli/program.hpp"
#include "core/text.hpp"
#include "docker/real_daemon.hpp"
#include "support/temp_dir.hpp"
#include "support/variable.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

using namespace berth;
using namespace berth::test;

namespace {

constexpr const char* wrong_password = "wrongpassword";

std::string server() { return variable("BERTH_TEST_PRIVATE"); }

std::string auths_with(const std::string& password) {
  return R"({"auths":{")" + server() + R"(":{"auth":")" + base64_encode("berth:" + password) + R"("}}})";
}

/// A directory for config.json, and the helper docker-credential-berthtest that says the password.
struct stored_login {
  stored_login() {
    write_whole_file(helper(),
                     "#!/bin/sh\ncat >/dev/null\necho "
                     "\"{\\\"Username\\\":\\\"berth\\\",\\\"Secret\\\":\\\"$BERTH_TEST_SECRET\\\"}\"\n");
    std::filesystem::permissions(helper(), std::filesystem::perms::owner_all);
  }
  std::string helper() const { return folder / "docker-credential-berthtest"; }
  void write(const std::string& config) const { write_whole_file(folder / "config.json", config); }

  temp_dir folder;
  variable_is directory{"DOCKER_CONFIG", folder.path().string()};
  variable_is path{"PATH", folder.path().string() + ":" + variable("PATH")};
};

auto pull(const std::vector<daemon_address>& daemon) {
  return berth_ends({"exec", "--docker-host", daemon.front().url, "--network", "none", "--pull", "always", "--image",
                     server() + "/test/busybox:1", "echo ran"});
}

void check_pulls(const std::vector<daemon_address>& daemon) {
  const auto done = pull(daemon);
  CAPTURE(done.err);
  CHECK(done.code == 0);
  CHECK(done.out == "ran\n");
}

void check_refused(const std::vector<daemon_address>& daemon, const std::string& story) {
  const auto done = pull(daemon);
  CAPTURE(done.err);
  CHECK(done.code == 125);
  CHECK(done.out == "");
  CHECK(done.err.find(story) != std::string::npos);
  CHECK(done.err.find("`docker login " + server() + "` stores ") != std::string::npos);
  CHECK(done.err.find(wrong_password) == std::string::npos);
}

}  // namespace

DOCKER_TEST("private pull: a login in config.json, the right one and a wrong one") {
  const stored_login stored;
  stored.write(auths_with("secret"));
  check_pulls(daemon);
  stored.write(auths_with(wrong_password));
  check_refused(daemon, "the login is from '" + (stored.folder / "config.json") + "'");
  co_return;
}

DOCKER_TEST("private pull: a login in DOCKER_AUTH_CONFIG, which wins, the right one and a wrong one") {
  const stored_login stored;
  {
    stored.write(auths_with(wrong_password));
    const variable_is given("DOCKER_AUTH_CONFIG", auths_with("secret"));
    check_pulls(daemon);
  }
  stored.write(auths_with("secret"));
  const variable_is given("DOCKER_AUTH_CONFIG", auths_with(wrong_password));
  check_refused(daemon, "the login is from DOCKER_AUTH_CONFIG");
  co_return;
}

DOCKER_TEST("private pull: a login of a helper, for all registries and for this one, the right one and a wrong one") {
  const stored_login stored;
  for (const std::string& config :
       {std::string(R"({"credsStore":"berthtest"})"), R"({"credHelpers":{")" + server() + R"(":"berthtest"}})"}) {
    CAPTURE(config);
    stored.write(config);
    {
      const variable_is secret("BERTH_TEST_SECRET", "secret");
      check_pulls(daemon);
    }
    const variable_is secret("BERTH_TEST_SECRET", wrong_password);
    check_refused(daemon, "by docker-credential-berthtest");
  }
  co_return;
}

DOCKER_TEST("private pull: without a login") {
  const stored_login stored;
  check_refused(daemon, "no login for it is stored");
  stored.write("{}");
  check_refused(daemon, "no login for it is stored");
  co_return;
}
