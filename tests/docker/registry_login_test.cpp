#include "docker/registry_login.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "docker/fake_surroundings.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::test;

namespace {

const std::string config = "/home/u/.docker/config.json";

std::string auth(const std::string& pair) { return base64_encode(pair); }

}  // namespace

TEST_CASE("login: none is no error") {
  const fake_surroundings here;
  const login_source found = find_registry_login("ghcr.io", here.view());
  CHECK_FALSE(found.login);
  CHECK(found.helper.empty());
}

TEST_CASE("login: from auths, under each spelling of a registry") {
  for (const char* key : {"r.io", "https://r.io", "https://r.io/v1/", "http://r.io/v2/"}) {
    fake_surroundings here;
    here.files[config] = R"({"auths":{"other.io":{"auth":"eDp5"},")" + std::string(key) + R"(":{"auth":")" +
                         auth("user:pass:word") + R"("}}})";
    const login_source found = find_registry_login("r.io", here.view());
    REQUIRE(found.login);
    CHECK(*found.login == registry_login{"user", "pass:word", ""});
    CHECK(found.server == key);
  }
}

TEST_CASE("login: Docker Hub has a name of its own") {
  fake_surroundings here;
  here.files[config] = R"({"auths":{"https://index.docker.io/v1/":{"identitytoken":"T"}}})";
  const login_source found = find_registry_login("docker.io", here.view());
  REQUIRE(found.login);
  CHECK(found.login->identity_token == "T");
}

TEST_CASE("login: helpers win over auths, that of the registry over the store") {
  fake_surroundings here;
  here.files[config] = R"({"credsStore":"all","credHelpers":{"a.io":"one"},"auths":{"a.io":{"auth":"eDp5"}}})";
  CHECK(find_registry_login("a.io", here.view()).helper == "one");
  const login_source other = find_registry_login("b.io:5000", here.view());
  CHECK(other.helper == "all");
  CHECK(other.server == "b.io:5000");
}

TEST_CASE("login: DOCKER_AUTH_CONFIG comes first, and the file serves what it lacks") {
  fake_surroundings here;
  here.variables["DOCKER_AUTH_CONFIG"] = R"({"auths":{"a.io":{"username":"u","password":"p"}}})";
  here.files[config] = R"({"auths":{"a.io":{"auth":"eDp5"},"b.io":{"auth":"eDp5"}}})";
  CHECK(find_registry_login("a.io", here.view()).login->user == "u");
  CHECK(find_registry_login("b.io", here.view()).login->user == "x");
}

TEST_CASE("login: what cannot be read is an error that names the file and no secret") {
  const std::string broken[] = {"{", R"({"auths":{"a.io":{"auth":"!secret!"}}})",
                                R"({"auths":{"a.io":{"auth":")" + auth("secret") + R"("}}})"};
  for (const std::string& text : broken) {
    fake_surroundings here;
    here.files[config] = text;
    try {
      (void)find_registry_login("a.io", here.view());
      FAIL("was taken");
    } catch (const error& failure) {
      CHECK(failure.message().find("config.json") != std::string::npos);
      CHECK(std::string(failure.what()).find("secret") == std::string::npos);
    }
  }
}

TEST_CASE("login: answers of a helper") {
  CHECK(read_helper_answer(R"({"ServerURL":"x","Username":"u","Secret":"s"})") == registry_login{"u", "s", ""});
  CHECK(read_helper_answer(R"({"Username":"<token>","Secret":"s"})") == registry_login{"", "", "s"});
  CHECK_THROWS_AS((void)read_helper_answer("nothing"), error);
  CHECK(says_not_found("credentials not found in native keychain"));
  CHECK_FALSE(says_not_found("no keychain"));
}

TEST_CASE("login: the header is base64url of what the daemon reads") {
  std::string text = registry_auth_header({"u", "\xC3\xBF\xC3\xBE?>", ""}, "r.io");
  CHECK(text.find_first_of("+/") == std::string::npos);
  for (char& c : text) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  const json body = json::parse(base64_decode(text));
  CHECK(body.at("username").as_string() == "u");
  CHECK(body.at("serveraddress").as_string() == "r.io");
  CHECK(json::parse(base64_decode(registry_auth_header({"", "", "T"}, "r.io"))).at("identitytoken").as_string() == "T");
}
