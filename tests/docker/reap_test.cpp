/// Containers that were left, and `berth reap`.
#include "docker/reap.hpp"
#include "cli/program.hpp"
#include "docker/container.hpp"
#include "docker/left_containers.hpp"
#include "docker/real_daemon.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

using namespace berth;
using namespace berth::test;

namespace {

owner_identity someone(std::int64_t pid) {
  owner_identity owner;
  owner.host = "machine/name";
  owner.boot = "boot";
  owner.namespace_ = "pid:[1]";
  owner.pid = pid;
  owner.started = 5;
  owner.key = "key";
  return owner;
}

json listed(const std::string& name, const docker_labels& labels) {
  json_object all;
  for (const auto& [label, value] : labels) all.set(label, value);
  return json_object{{"Id", "id-of-" + name},
                     {"Names", json_array{json("/" + name)}},
                     {"Image", "busybox"},
                     {"State", "running"},
                     {"Labels", std::move(all)}};
}

/// One of ours that does not go by itself, with a volume that has no name.
task<container> leave_one(std::shared_ptr<docker_engine> engine, std::string name, docker_labels labels, bool start) {
  json_object all;
  for (const auto& [label, value] : labels) all.set(label, value);
  json_object volume{{"Type", "volume"}, {"Target", "/data"}};
  json_object spec{
      {"Image", "test/busybox:1"},
      {"Entrypoint", json_array{json("/bin/sleep"), json("1000")}},
      {"Labels", std::move(all)},
      {"HostConfig", json_object{{"Mounts", json_array{json(std::move(volume))}}, {"NetworkMode", "none"}}}};
  auto making = container::create(std::move(engine), json(std::move(spec)), std::move(name), "");
  const container made = co_await std::move(making);
  if (start) co_await made.start();
  co_return made;
}

/// A process of this machine that has ended.
owner_identity dead_owner() {
  owner_identity owner = this_owner();
  owner.pid = 1;
  owner.started += 1;  // process 1 was started before
  return owner;
}

bool has_line(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("reap: owners are told apart by their labels") {
  owner_view here{someone(10), [](std::int64_t pid) -> std::optional<std::uint64_t> {
                    if (pid == 7) return 5;
                    return std::nullopt;
                  }};
  owner_identity far = someone(7);
  far.host = "other/one";
  far.boot = "other";
  const docker_labels broken{{owner_label, "key"}, {"berth.owner.pid", "x"}};
  const json list(json_array{listed("d-broken", broken), listed("c-far", labels_of(far)),
                             listed("b-dead", labels_of(someone(8))), listed("a-alive", labels_of(someone(7)))});
  const auto found = read_containers(list, here);
  REQUIRE(found.size() == 4);
  CHECK(found[0].name == "a-alive");
  CHECK(found[0].id == "id-of-a-alive");
  CHECK(found[0].owner == owner_state::alive);
  CHECK(found[0].owner_pid == 7);
  CHECK(found[1].owner == owner_state::dead);
  CHECK(found[2].owner == owner_state::unknown);
  CHECK(found[2].owner_host == "other/one");
  CHECK(found[3].owner == owner_state::unknown);
  CHECK(found[3].owner_pid == 0);
}

DOCKER_TEST("reap: what a dead owner left goes with its volumes, what a living one has and what may be one's stays") {
  auto connecting = docker_engine::connect(io.get_executor(), daemon);
  const auto engine = co_await std::move(connecting);
  owner_identity far = this_owner();
  far.boot = "other";
  far.host = "other/one";
  auto counting = count_volumes(io, daemon);
  const std::size_t volumes = co_await std::move(counting);
  auto leaving = leave_one(engine, "reap-dead", labels_of(dead_owner()), true);
  co_await std::move(leaving);
  leaving = leave_one(engine, "reap-dead-created", labels_of(dead_owner()), false);
  co_await std::move(leaving);
  leaving = leave_one(engine, "reap-alive", labels_of(this_owner()), true);
  const container alive = co_await std::move(leaving);
  leaving = leave_one(engine, "reap-far", labels_of(far), false);
  const container elsewhere = co_await std::move(leaving);
  leaving = leave_one(engine, "reap-none", docker_labels(), false);
  const container not_ours = co_await std::move(leaving);

  const auto tried = berth_ends({"reap", "--dry-run", "--docker-host", daemon.front().url});
  CHECK(tried.code == 0);
  CHECK(has_line(tried.out, "would remove"));
  CHECK(count_lines(tried.out) == 4);
  const std::string of_us = std::to_string(::getpid());
  const auto done = berth_ends({"reap", "--docker-host", daemon.front().url});
  CHECK(done.code == 0);
  CHECK(done.err == "");
  CHECK(count_lines(done.out) == 4);
  CHECK(has_line(done.out, "reap-dead, of process 1, which is gone"));
  CHECK(has_line(done.out, "reap-dead-created, of process 1, which is gone"));
  CHECK(has_line(done.out, "reap-alive, of process " + of_us + ", which runs"));
  CHECK(has_line(done.out, "reap-far, of process " + of_us + " on 'other/one'"));
  counting = count_volumes(io, daemon);
  CHECK(co_await std::move(counting) == volumes + 3);

  const auto again = berth_ends({"reap", "--json", "--docker-host", daemon.front().url});
  CHECK(count_lines(again.out) == 2);
  CHECK(has_line(again.out, "\"owner\":\"alive\",\"owner_pid\":" + of_us));
  const std::vector<container> spared{alive, elsewhere, not_ours};
  for (const container& each : spared) {
    const auto now = co_await each.state();
    CHECK(now);
    co_await each.remove();
  }
}

TEST_CASE("reap: no daemon, and two of them, are one line") {
  const auto none = berth_ends({"reap", "--docker-host", "unix:///nosuch"});
  CHECK(none.code == 125);
  CHECK(none.err.find("berth: reap: no Docker daemon answers: unix:///nosuch") == 0);
  CHECK(count_lines(none.err) == 1);
  CHECK(berth_ends({"reap", "--docker-host", "unix:///a", "--docker-context", "b"}).code == 125);
  CHECK(berth_ends({"reap", "all"}).code == 125);
}
