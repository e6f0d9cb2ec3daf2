#include "docker/container_spec.hpp"
#include "docker/engine_paths.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

using namespace berth;

namespace {

std::string refusal(const docker_context_options& options) {
  try {
    check_docker_options(options);
  } catch (const error& failure) {
    CHECK(failure.code() == errc::invalid_argument);
    return failure.message();
  }
  return "taken";
}

}  // namespace

TEST_CASE("container: cores") {
  CHECK(read_cpu("1") == 1'000'000'000);
  CHECK(read_cpu("1.5") == 1'500'000'000);
  CHECK(read_cpu("0.25") == 250'000'000);
  CHECK(read_cpu(".5") == 500'000'000);
  CHECK(read_cpu("64.000000001") == 64'000'000'001);
  for (const char* bad : {"", ".", "0", "0.0", "1,5", "-1", "1.5.5", "1 ", "0.0000000001", "99999999999999999999"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS((void)read_cpu(bad), error);
  }
}

TEST_CASE("container: the least that is asked for") {
  docker_context_options options;
  container_fittings fittings;
  fittings.entrypoint = {"/x", "stdio"};
  const json spec = container_spec(options, fittings);
  CHECK(spec.dump() == R"({"Image":"oven/bun:latest","Entrypoint":["/x","stdio"],"Cmd":[],"WorkingDir":"/workspace",)"
                       R"("Labels":{},"OpenStdin":false,"HostConfig":{"Mounts":[],"AutoRemove":true,)"
                       R"("LogConfig":{"Type":"none"}}})");
}

TEST_CASE("container: every option has its place") {
  docker_context_options options;
  options.env = {{"A", "1"}};
  options.limits = {512, "1.5", 100};
  options.mounts = {{mount_kind::bind, "/h", "/c", true, {}},
                    {mount_kind::volume, "v", "/v", false, {}},
                    {mount_kind::tmpfs, "", "/t", false, 64}};
  options.ports = {{80, 0, "127.0.0.1"}, {443, 8443, "0.0.0.0"}, {80, 8080, "::1"}};
  options.user = "1000";
  options.network = "none";
  options.read_only = true;
  options.cap_drop = {"ALL"};
  options.security_opt = {"no-new-privileges"};
  options.labels = {{"l", "w"}};
  container_fittings fittings;
  fittings.volume = "/.berth";
  fittings.labels = {{"berth", "x"}};
  fittings.init = true;
  check_docker_options(options);
  const json spec = container_spec(options, fittings);
  const json& host = spec["HostConfig"];
  CHECK(spec["Env"].dump() == R"(["A=1"])");
  CHECK(spec["User"].as_string() == "1000");
  CHECK(spec["Labels"].dump() == R"({"l":"w","berth":"x"})");
  CHECK(host["Memory"].as_int() == 536870912);
  CHECK(host["MemorySwap"].as_int() == 536870912);
  CHECK(host["NanoCpus"].as_int() == 1500000000);
  CHECK(host["PidsLimit"].as_int() == 100);
  CHECK(host["Mounts"].dump() ==
        R"([{"Target":"/c","ReadOnly":true,"Type":"bind","Source":"/h"},)"
        R"({"Target":"/v","Type":"volume","Source":"v"},{"Type":"volume","Target":"/.berth"}])");
  CHECK(host["Tmpfs"].dump() == R"({"/t":"rw,exec,size=64m"})");
  CHECK(host["PortBindings"].dump() ==
        R"({"80/tcp":[{"HostIp":"127.0.0.1","HostPort":""},{"HostIp":"::1","HostPort":"8080"}],)"
        R"("443/tcp":[{"HostIp":"0.0.0.0","HostPort":"8443"}]})");
  CHECK(host["NetworkMode"].as_string() == "none");
  CHECK(host["ReadonlyRootfs"].as_bool());
  CHECK(host["CapDrop"].dump() == R"(["ALL"])");
  CHECK(host["SecurityOpt"].dump() == R"(["no-new-privileges"])");
  CHECK(host["Init"].as_bool());
}

TEST_CASE("container: options that cannot be are named") {
  docker_context_options options;
  CHECK(refusal(options) == "taken");
  options.cwd = "relative";
  CHECK(refusal(options).find("cwd") != std::string::npos);
  options = {};
  options.name = "-x";
  CHECK(refusal(options).find("name") != std::string::npos);
  options = {};
  options.mounts = {{mount_kind::bind, "relative", "/c", false, {}}};
  CHECK(refusal(options).find("'/c'") != std::string::npos);
  options.mounts = {{mount_kind::volume, "v", "c", false, {}}};
  CHECK(refusal(options).find("absolute") != std::string::npos);
  options = {};
  for (const char* address : {"localhost", "", "x y", "1:2", "127.0.0.1%lo", "127.1"}) {
    options.ports = {{80, 8080, address}};
    CHECK_MESSAGE(refusal(options).find("is no address") != std::string::npos, address);
  }
  options.ports = {{80, 8080, "::1"}};
  CHECK(refusal(options) == "taken");
  options = {};
  options.limits.memory_mb = 5;
  CHECK(refusal(options).find("memory_mb") != std::string::npos);
  options = {};
  options.container = "given";
  CHECK(refusal(options) == "taken");
  options.read_only = true;
  CHECK(refusal(options).find("`container`") != std::string::npos);
}

TEST_CASE("container: more memory than there are numbers for is refused, and not taken for none") {
  docker_context_options options;
  options.limits.memory_mb = std::uint64_t{1} << 44;
  CHECK(refusal(options).find("memory_mb") != std::string::npos);
  options.limits.memory_mb = 512;
  docker_mount small;
  small.kind = mount_kind::tmpfs;
  small.target = "/small";
  small.size_mb = std::uint64_t{1} << 44;
  options.mounts.push_back(small);
  CHECK(refusal(options).find("size") != std::string::npos);
}

TEST_CASE("engine paths: what lies in a tmpfs is out of reach, however it is written") {
  engine_files_place place{container(nullptr, "id"), {}, {}, {"/small/"}};
  for (const char* each : {"/small", "/small/a", "/workspace/../small/a", "/proc/1/mem", "/a/../dev/null"}) {
    CAPTURE(each);
    CHECK(is_out_of_reach(place, plain_path(each)));
  }
  for (const char* each : {"/smaller", "/workspace/small", "/workspace/../other"}) {
    CAPTURE(each);
    CHECK_FALSE(is_out_of_reach(place, plain_path(each)));
  }
}
