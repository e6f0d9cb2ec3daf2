#include "docker/daemon_address.hpp"

#include "docker/fake_surroundings.hpp"
#include "docker/sha256.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::test;

namespace {

const std::string contexts = "/home/u/.docker/contexts";

std::string meta_of(const std::string& name) { return contexts + "/meta/" + sha256_hex(name) + "/meta.json"; }

std::vector<std::string> urls(const fake_surroundings& here, const daemon_choice& choice = {}) {
  std::vector<std::string> all;
  for (const daemon_address& each : find_daemons(choice, here.view())) all.push_back(each.url);
  return all;
}

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("daemon: sha256 as everybody has it") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("default") == "37a8eec1ce19687d132fe29051dca629d164e2c4958ba141d5f4133a33f0688f");
}

TEST_CASE("daemon: who names it counts in the order of the docker command") {
  fake_surroundings here;
  here.sockets = {"/var/run/docker.sock", "/run/user/1000/docker.sock", "/run/user/1000/podman/podman.sock"};
  CHECK(urls(here) == list{"unix:///var/run/docker.sock", "unix:///run/user/1000/docker.sock",
                           "unix:///run/user/1000/podman/podman.sock"});
  here.files["/home/u/.docker/config.json"] = R"({"currentContext":"far"})";
  here.files[meta_of("far")] = R"({"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:2375"}}})";
  CHECK(urls(here) == list{"tcp://far:2375"});
  here.files[meta_of("near")] = R"({"Name":"near","Endpoints":{"docker":{"Host":"unix:///n.sock"}}})";
  here.variables["DOCKER_CONTEXT"] = "near";
  CHECK(urls(here) == list{"unix:///n.sock"});
  here.variables["DOCKER_CONTEXT"] = "default";
  CHECK(urls(here).front() == "unix:///var/run/docker.sock");
  here.variables["DOCKER_HOST"] = "tcp://h:1";
  CHECK(urls(here) == list{"tcp://h:1"});
  CHECK(urls(here, {.host = "", .context = "near"}) == list{"unix:///n.sock"});
  CHECK(urls(here, {.host = "ssh://u@x", .context = "near"}) == list{"ssh://u@x"});
}

TEST_CASE("daemon: addresses without a scheme, and such as cannot be") {
  fake_surroundings here;
  here.variables["DOCKER_HOST"] = "/a/b.sock";
  CHECK(urls(here) == list{"unix:///a/b.sock"});
  here.variables["DOCKER_HOST"] = "host:2375";
  CHECK(urls(here) == list{"tcp://host:2375"});
  for (const char* bad : {"npipe:////./pipe/x", "unix://", "ftp://x", "tcp://a b"}) {
    here.variables["DOCKER_HOST"] = bad;
    CHECK_THROWS_AS((void)urls(here), error);
  }
}

TEST_CASE("daemon: TLS by the variables") {
  fake_surroundings here;
  here.variables["DOCKER_HOST"] = "tcp://h:2376";
  here.files["/home/u/.docker/ca.pem"] = "CA";
  CHECK_FALSE(find_daemons({}, here.view()).front().tls);
  here.variables["DOCKER_TLS_VERIFY"] = "1";
  CHECK(find_daemons({}, here.view()).front().tls == daemon_tls{"CA", "", "", true});
  here.variables["DOCKER_CERT_PATH"] = "/c";
  here.files["/c/cert.pem"] = "CERT";
  here.files["/c/key.pem"] = "KEY";
  CHECK(find_daemons({}, here.view()).front().tls == daemon_tls{"", "CERT", "KEY", true});
  here.variables.erase("DOCKER_TLS_VERIFY");
  here.variables["DOCKER_TLS"] = "1";
  CHECK(find_daemons({}, here.view()).front().tls == daemon_tls{"", "CERT", "KEY", false});
  here.variables["DOCKER_HOST"] = "unix:///s";
  CHECK_FALSE(find_daemons({}, here.view()).front().tls);
  here.variables.erase("DOCKER_TLS");
  here.variables["DOCKER_HOST"] = "https://h";
  CHECK(find_daemons({}, here.view()).front().tls->verify);
}

TEST_CASE("daemon: a context brings its certificates") {
  fake_surroundings here;
  here.variables["DOCKER_CONFIG"] = "/cfg";
  here.files["/cfg/contexts/meta/" + sha256_hex("x") + "/meta.json"] =
      R"({"Endpoints":{"docker":{"Host":"tcp://x:2376","SkipTLSVerify":false}}})";
  here.files["/cfg/contexts/tls/" + sha256_hex("x") + "/docker/ca.pem"] = "CA";
  const auto found = find_daemons({.host = "", .context = "x"}, here.view()).front();
  CHECK(found.tls == daemon_tls{"CA", "", "", true});
  CHECK(found.from == "docker context 'x'");
}

TEST_CASE("daemon: what is missing or broken is named") {
  fake_surroundings here;
  const auto message_of = [&here](const daemon_choice& choice) {
    try {
      (void)find_daemons(choice, here.view());
    } catch (const error& failure) {
      return failure.message();
    }
    return std::string("nothing thrown");
  };
  CHECK(message_of({}).find("/var/run/docker.sock, /home/u/.docker/run/docker.sock") != std::string::npos);
  CHECK(message_of({.host = "", .context = "gone"}).find("docker context 'gone'") == 0);
  here.files["/home/u/.docker/config.json"] = "{nonsense";
  CHECK(message_of({}).find("config.json") != std::string::npos);
}
