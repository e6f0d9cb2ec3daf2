#include "cli/container_options.hpp"
#include "cli/container_specs.hpp"
#include "cli/exec_options.hpp"
#include "cli/file_run.hpp"
#include "cli/program.hpp"
#include "cli/shell_options.hpp"
#include "support/temp_dir.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>

using namespace berth;
using namespace berth::cli;

namespace {

docker_context_options container_in(words arguments) {
  arguments.emplace_back("true");
  const auto options = parse_exec_options(arguments);
  REQUIRE(options.container);
  return *options.container;
}

std::string container_mistake_in(words arguments) {
  arguments.emplace_back("true");
  try {
    parse_exec_options(arguments);
  } catch (const usage_error& mistake) {
    return mistake.what();
  }
  return "none";
}

template <class Read>
std::string refusal(Read read, const std::string& text) {
  try {
    read(text);
  } catch (const usage_error& mistake) {
    return mistake.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("container options: --image, --container and --context docker mean one, nothing else does") {
  CHECK(container_in({"--image", "busybox"}).image == "busybox");
  CHECK(container_in({"--context", "docker"}).image == docker_context_options().image);
  CHECK(container_in({"--container", "web"}).container == "web");
  CHECK_FALSE(parse_exec_options({"true"}).container);
  CHECK_FALSE(parse_exec_options({"--context", "process", "--memory", "64M", "true"}).container);
  CHECK(container_mistake_in({"--user", "a"}) == "--user is for containers: add --image IMAGE or --container NAME");
  CHECK(container_mistake_in({"--context", "process", "--image", "a"}) ==
        "--image is for containers: add --context docker in place of --context process");
  CHECK(container_mistake_in({"--context", "x"}) ==
        "--context x: there are 'process', which is this host, and 'docker'");
  CHECK(container_mistake_in({"--image", ""}) == "--image: an empty value");
}

TEST_CASE("container options: what is for this host alone is refused") {
  CHECK(container_mistake_in({"--image", "a", "--isolate"}).find("--isolate is for sandboxes on this host") == 0);
  CHECK(container_mistake_in({"--image", "a", "--writable", "b"}).find("--writable is for sandboxes on this host") ==
        0);
  CHECK(container_mistake_in({"--image", "a", "--network", "deny"}).find("--network deny is for --isolate") == 0);
  CHECK(container_mistake_in({"--image", "a", "--login-env"}).find("--login-env is for this host") == 0);
  CHECK(container_mistake_in({"--network", "none"}) ==
        "--network: 'none' is neither allow nor deny; for a container add --image");
}

TEST_CASE("container options: one that runs takes none of what makes one") {
  CHECK(container_mistake_in({"--container", "a", "--image", "b"}) ==
        "--image is for containers that are made; --container names one that runs");
  CHECK(container_mistake_in({"--container", "a", "--network", "none"})
            .find("--network is for containers that are made") == 0);
  CHECK_THROWS_WITH_AS(parse_shell_options({"--container", "a", "--memory", "64M"}),
                       "--memory is for containers that are made; --container names one that runs", usage_error);
  CLI::App ls("", "ls");
  CHECK_THROWS_WITH_AS(parse_file_words(ls, {"--container", "a", "--memory", "64M", "."}, 0),
                       "--memory is for containers that are made; --container names one that runs", usage_error);
  const auto options = parse_exec_options({"--container", "a", "--user", "b", "--memory", "64M", "true"});
  CHECK(options.container->user == "b");
  CHECK(options.limits.memory() == 64U << 20U);  // of the command: the container's are not ours
  CHECK_FALSE(options.container->limits.memory_mb);
}

TEST_CASE("container options: every one goes where it belongs") {
  const auto found = container_in({"--image",
                                   "a",
                                   "--user",
                                   "1:2",
                                   "--network",
                                   "net",
                                   "--platform",
                                   "linux/arm64",
                                   "--read-only",
                                   "--cap-drop",
                                   "ALL",
                                   "--cap-drop",
                                   "CHOWN",
                                   "--label",
                                   "x=y",
                                   "--name",
                                   "n",
                                   "--pull",
                                   "always",
                                   "--docker-host",
                                   "unix:///d",
                                   "--cpus",
                                   "1.5",
                                   "--pids",
                                   "9",
                                   "--cwd",
                                   "/app",
                                   "-v",
                                   "/a:/b:ro",
                                   "--mount",
                                   "type=tmpfs,target=/t",
                                   "-p",
                                   "80"});
  CHECK(found.user == "1:2");
  CHECK(found.network == "net");
  CHECK(found.platform == "linux/arm64");
  CHECK(found.read_only);
  CHECK(found.cap_drop == words{"ALL", "CHOWN"});
  CHECK(found.labels.front().second == "y");
  CHECK(found.name == "n");
  CHECK(found.pull == pull_policy::always);
  CHECK(found.host == "unix:///d");
  CHECK(found.limits.cpu == "1.5");
  CHECK(found.limits.pids == 9U);
  CHECK(found.cwd == "/app");
  CHECK(found.mounts.size() == 2);
  CHECK(found.ports.size() == 1);
  CHECK(container_mistake_in({"--image", "a", "--cwd", "app"}) == "--cwd app: in a container it must be absolute");
  CHECK(container_mistake_in({"--image", "a", "--pull", "now"}) == "--pull now: there are missing, always and never");
  CHECK(container_mistake_in({"--image", "a", "--docker-host", "b", "--docker-context", "c"})
            .find("exclude each other") != std::string::npos);
}

TEST_CASE("container options: limits of the command become the container's where it is ours") {
  const auto options =
      parse_exec_options({"--image", "a", "--memory", "100M", "--processes", "5", "--open-files", "64", "true"});
  CHECK(options.container->limits.memory_mb == 100U);
  CHECK(options.container->limits.pids == 6U);  // ours is one of them
  CHECK_FALSE(options.limits.memory());
  CHECK_FALSE(options.limits.processes());
  CHECK(options.limits.open_files() == 64U);
  CHECK(container_in({"--image", "a", "--processes", "5", "--pids", "100"}).limits.pids == 6U);
  CHECK(container_in({"--image", "a", "--processes", "5", "--pids", "3"}).limits.pids == 3U);
  CHECK(container_in({"--image", "a", "--processes", "18446744073709551615"}).limits.pids == ~std::uint64_t{0});
  CHECK(mebibytes_of(1) == 1);
  CHECK(mebibytes_of(2U << 20U) == 2);
}

TEST_CASE("container specs: --volume") {
  const auto bind = volume_of("/a:/b:ro");
  CHECK(bind.kind == mount_kind::bind);
  CHECK(bind.source == "/a");
  CHECK(bind.target == "/b");
  CHECK(bind.read_only);
  const auto relative = volume_of("./a/../b:/c");
  CHECK(relative.source == (std::filesystem::current_path() / "b").string());
  CHECK(volume_of(".:/c").source == std::filesystem::current_path().string());
  const auto named = volume_of("cache:/c:rw");
  CHECK(named.kind == mount_kind::volume);
  CHECK(named.source == "cache");
  CHECK_FALSE(named.read_only);
  for (const char* wrong : {"/data", "a:b", "a:/b:z", ":/b", "a:/b:ro:x", "a:/"}) {
    CAPTURE(wrong);
    CHECK(refusal(volume_of, wrong).find("--volume ") == 0);
  }
}

TEST_CASE("container specs: --mount and --tmpfs") {
  const auto bind = mount_of("type=bind,src=/a,dst=/b,readonly");
  CHECK(bind.kind == mount_kind::bind);
  CHECK(bind.source == "/a");
  CHECK(bind.target == "/b");
  CHECK(bind.read_only);
  CHECK(mount_of("source=v,target=/b,readonly=false").kind == mount_kind::volume);
  const auto memory = mount_of("type=tmpfs,destination=/t,tmpfs-size=64m");
  CHECK(memory.kind == mount_kind::tmpfs);
  CHECK(memory.size_mb == 64U);
  CHECK(tmpfs_of("/t").size_mb == std::nullopt);
  CHECK(tmpfs_of("/t:rw,size=1500k").size_mb == 2U);
  CHECK(tmpfs_of("/t:ro").read_only);
  for (const char* wrong : {"type=x,target=/b", "source=v", "target=/b", "type=tmpfs,source=a,target=/b", "x=y",
                            "source=v,target=/b,tmpfs-size=1m", "source=v,target=/b,readonly=maybe"}) {
    CAPTURE(wrong);
    CHECK(refusal(mount_of, wrong).find("--mount ") == 0);
  }
  for (const char* wrong : {"t", "/t:size=x", "/t:noexec", "/t:size=0"}) {
    CAPTURE(wrong);
    CHECK(refusal(tmpfs_of, wrong).find("--tmpfs ") == 0);
  }
}

TEST_CASE("container specs: --publish") {
  const auto any = port_of("80");
  CHECK(any.container == 80);
  CHECK(any.host == 0);
  CHECK(any.address == "127.0.0.1");
  CHECK(port_of("8080:80/tcp").host == 8080);
  CHECK(port_of("0.0.0.0:8080:80").address == "0.0.0.0");
  const auto six = port_of("[::1]:8080:80");
  CHECK(six.address == "::1");
  CHECK(six.host == 8080);
  CHECK(port_of("10.0.0.1::80").host == 0);
  const auto chosen = port_of("10.0.0.1:80");
  CHECK(chosen.address == "10.0.0.1");
  CHECK(chosen.host == 0);
  CHECK(chosen.container == 80);
  CHECK(port_of("[::1]:80").address == "::1");
  for (const char* wrong : {"", "0", "x:80", "80/udp", "1-2:3-4", "70000", ":80:"}) {
    CAPTURE(wrong);
    CHECK(refusal(port_of, wrong).find("--publish ") == 0);
  }
}

TEST_CASE("container specs: --label and --security-opt") {
  CHECK(label_of("a=b=c").second == "b=c");
  CHECK(label_of("a").second == "");
  CHECK(refusal(label_of, "=b").find("--label ") == 0);
  const test::temp_dir at;
  test::write_whole_file(at / "profile", "{}");
  CHECK(security_option_of("no-new-privileges") == "no-new-privileges");
  CHECK(security_option_of("seccomp=" + (at / "profile")) == "seccomp={}");
  CHECK(security_option_of("seccomp=unconfined") == "seccomp=unconfined");
  CHECK(refusal(security_option_of, "seccomp=/nosuch").find("--security-opt ") == 0);
}
