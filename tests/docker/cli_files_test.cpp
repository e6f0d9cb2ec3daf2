/// The words for files in containers.
#include "cli/program.hpp"
#include "docker/left_containers.hpp"
#include "docker/real_daemon.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace berth;
using namespace berth::test;

namespace {

/// The word in a container that has this directory of ours at /data, and works there.
words in_data(const std::vector<daemon_address>& daemon, const std::string& word, const temp_dir& data,
              const words& more) {
  words all{
      word,    "--image", "test/busybox:1", "--docker-host", daemon.front().url, "-v", data.path().string() + ":/data",
      "--cwd", "/data"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

DOCKER_TEST("cli in containers: files are written, read, listed, copied and removed in a volume") {
  const temp_dir data;
  const temp_dir ours;
  CHECK(berth_ends(in_data(daemon, "mkdir", data, {"sub/deep"})).code == 0);
  CHECK(berth_ends(in_data(daemon, "write", data, {"sub/file"}), "bytes\n").code == 0);
  CHECK(read_whole_file(data / "sub/file") == "bytes\n");
  CHECK(berth_ends(in_data(daemon, "read", data, {"sub/file"})).out == "bytes\n");
  CHECK(berth_ends(in_data(daemon, "ls", data, {"sub"})).out == "deep\nfile\n");
  CHECK(berth_ends(in_data(daemon, "cp", data, {":sub", ours / "copy"})).code == 0);
  CHECK(read_whole_file(ours / "copy/file") == "bytes\n");
  write_whole_file(ours / "copy/more", "more");
  CHECK(berth_ends(in_data(daemon, "cp", data, {ours / "copy", ":sub"})).code == 0);
  CHECK(read_whole_file(data / "sub/more") == "more");
  CHECK(berth_ends(in_data(daemon, "rm", data, {"-r", "sub"})).code == 0);
  CHECK(!std::filesystem::exists(data / "sub"));
  co_return;
}

DOCKER_TEST("cli in containers: a file that is not there is 1, a wrong place 125, and no container stays") {
  const temp_dir data;
  program read(in_data(daemon, "read", data, {"none"}));
  const auto missing = read.end();
  CHECK(missing.code == 1);
  CHECK(missing.err.find("'none'") != std::string::npos);
  program wrong(in_data(daemon, "ls", data, {"--cwd", "sub"}));
  CHECK(wrong.end().code == 125);
  program none(in_data(daemon, "ls", data, {"--pull", "never", "--image", "test/none:1"}));
  CHECK(none.end().code == 125);
  for (const program* each : {&read, &wrong, &none}) {
    auto counting = containers_of(io, daemon, each->pid());
    CHECK(co_await std::move(counting) == 0);
  }
}
