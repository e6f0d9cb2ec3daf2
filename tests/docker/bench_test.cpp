/// `berth bench` with a daemon.
#include "docker/real_daemon.hpp"
#include "support/async.hpp"
#include "support/temp_dir.hpp"

#include <berth/process_context.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace berth;
using namespace berth::test;

namespace {

/// `berth bench` with these words, as if the docker command were told of this daemon.
task<exec_result> run_bench(asio::io_context& io, std::string daemon, std::string words) {
  context place = make_process_context(io);
  const handle where = co_await place.spawn();
  auto bench = command(std::string(BERTH_PROGRAM) + " bench --runs 1 --warmup 0 " + words);
  bench.env("DOCKER_HOST", daemon);
  exec_result done = co_await place.exec(where, std::move(bench));
  co_await place.destroy(where);
  co_return done;
}

}  // namespace

DOCKER_TEST("bench: every row of containers runs, in an image that the daemon has") {
  const exec_result done = co_await run_bench(io, daemon.front().url,
                                              "exec/docker exec/docker-frames exec64/docker spawn/docker stream/docker "
                                              "stream/docker-frames pty/docker file/docker");
  CAPTURE(done.std_out);
  CHECK(done.status.code() == 0);
  CHECK(done.std_err == "");
  for (const std::string name :
       {"exec/docker", "exec/docker-frames", "exec/docker-engine", "exec64/docker", "spawn/docker", "stream/docker",
        "stream/docker-frames", "stream/docker-attach", "pty/docker", "file/docker-read4k", "file/docker-archive4k",
        "file/docker-write4k", "file/docker-archive4k-put", "file/docker-64m-up", "file/docker-64m-down"}) {
    CAPTURE(name);
    CHECK(("\n" + done.std_out).find("\n" + name + " ") != std::string::npos);
  }
  CHECK(done.std_out.find("failed") == std::string::npos);
}

DOCKER_TEST("bench: an image that the daemon does not have is not pulled, and the rows are left out") {
  const exec_result done =
      co_await run_bench(io, daemon.front().url, "--docker-image test/none:1 spawn/docker spawn/host");
  CHECK(done.status.code() == 0);
  CHECK(done.std_err == "berth: bench: without spawn/docker: the daemon has no image test/none:1: not found\n");
  CHECK(done.std_out.find("spawn/host ") != std::string::npos);
  CHECK(done.std_out.find("spawn/docker") == std::string::npos);
}

DOCKER_TEST("bench: an image without the programs that are run in it is named") {
  const exec_result done = co_await run_bench(io, daemon.front().url, "--docker-image test/scratch:1 spawn/docker");
  CHECK(done.std_err.starts_with("berth: bench: without spawn/docker: image test/scratch:1: /bin/true: "));
}

DOCKER_TEST("bench: a peer of containers works in the one that ours works in") {
  const temp_dir dir;
  write_whole_file(dir / "peers.json", R"({"mine": {"run": ["sh", "mine.sh"], "does": {"docker-exec": 0.5}}})");
  write_whole_file(dir / "mine.sh",
                   "echo peer x\n"
                   "while read -r bench count container program; do\n"
                   "echo \"$bench $count $container $program $DOCKER_HOST\" >>asked\n"
                   "echo ok 5000; done\n");
  const std::string url = daemon.front().url;
  const exec_result done = co_await run_bench(io, url, "--peers-in " + dir.path().string() + " exec/docker");
  CHECK(done.status.code() == 0);
  CHECK(done.std_out.find("\nexec/docker-mine ") != std::string::npos);
  const std::string asked = read_whole_file(dir / "asked");
  CHECK(asked.starts_with("docker-exec 1 berth-bench-"));
  CHECK(asked.ends_with(" /bin/true " + url + "\n"));
}
