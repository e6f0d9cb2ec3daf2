/// The decisions of the resident's owner that need no resident: the watchdog, the lease, the words of a failed start.
#include "context/resident_lease.hpp"
#include "context/resident_session.hpp"
#include "context/resident_start.hpp"
#include "context/resident_watchdog.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstring>

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using action = resident_watchdog::action;
using clock = resident_watchdog::clock;

const clock::time_point began{100s};

TEST_CASE("watchdog: silence is asked about, then continued, then killed") {
  resident_watchdog dog;
  dog.begin(began);
  CHECK(dog.tick(began + 1s, began) == action::ping);
  CHECK(dog.tick(began + 2s, began) == action::resume);
  CHECK(dog.tick(began + 3s, began) == action::kill);
}

TEST_CASE("watchdog: a frame starts it afresh") {
  resident_watchdog dog;
  dog.begin(began);
  CHECK(dog.tick(began + 1s, began) == action::ping);
  CHECK(dog.tick(began + 2s, began + 1200ms) == action::none);
  CHECK(dog.next() == began + 2200ms);
  CHECK(dog.tick(began + 2200ms, began + 1200ms) == action::ping);
}

TEST_CASE("watchdog: time in which our loop stood still is not held against the resident") {
  resident_watchdog dog;
  dog.begin(began);
  CHECK(dog.tick(began + 1s, began) == action::ping);
  CHECK(dog.tick(began + 30s, began) == action::none);
  CHECK(dog.tick(began + 31s, began) == action::resume);
  CHECK(dog.tick(began + 60s, began) == action::none);
  CHECK(dog.tick(began + 61s, began + 60500ms) == action::none);
}

TEST_CASE("lease: what was not acknowledged is sent again, and nothing is handled twice") {
  resident_lease lease(make_resident_token());
  lease.sent("first");
  lease.sent("second");
  CHECK(lease.acknowledged(5));
  CHECK(lease.unacknowledged() == std::vector<std::string>{"second"});
  CHECK_FALSE(lease.acknowledged(12));
  CHECK(lease.received(100));
  CHECK(lease.connect() == 100);
  lease.begin_incoming();
  CHECK(lease.received(50));
  // The resident was told 150, and a connection before it was told 100.
  CHECK(lease.connect() == 150);
  lease.begin_incoming();
  CHECK(lease.received(1));
}

TEST_CASE("lease: an acknowledgement is due once for each 64 KiB") {
  resident_lease lease(make_resident_token());
  lease.received(65535);
  CHECK_FALSE(lease.acknowledgement_due());
  lease.received(1);
  CHECK(lease.acknowledgement_due());
  CHECK_FALSE(lease.acknowledgement_due());
}

TEST_CASE("lease: the token is found behind half a frame, and the last one counts") {
  const resident_lease lease(make_resident_token());
  const std::string token(lease.token().data(), lease.token().size());
  bool found = false;
  CHECK(lease.look_for_token("half a frame" + token + "welcome", false, found) == "welcome");
  CHECK(found);
  CHECK(lease.look_for_token(token + "old" + token + "new", false, found) == "new");
  CHECK(lease.look_for_token("frames", false, found) == "frames");
  CHECK_FALSE(found);
}

TEST_CASE("lease: the token that a welcome ends with is no beginning") {
  const resident_lease lease(make_resident_token());
  const std::string token(lease.token().data(), lease.token().size());
  wire::welcome welcome;
  std::memcpy(welcome.token, token.data(), token.size());
  std::string payload;
  welcome.put(payload);
  const std::string frame = make_frame(wire::frame_type::welcome, 0, wire::stream::in, payload);
  bool found = false;
  CHECK(lease.look_for_token("x" + token + frame + "next", false, found) == frame + "next");
  CHECK(found);
  CHECK(lease.look_for_token(frame + "next", true, found) == frame + "next");
  CHECK_FALSE(found);
  CHECK(lease.look_for_token(frame + token + frame, true, found) == frame);
  CHECK(found);
}

exit_status failure(const command& what, wire::start_step step, int error) {
  const start_request request(what, {}, true);
  return request.failure(step, error);
}

TEST_CASE("start: a failed one says what is wrong, with the codes of env(1)") {
  const exit_status missing = failure(argv("foo"), wire::start_step::exec, ENOENT);
  CHECK(missing.code() == 127);
  CHECK(missing.message() == "cannot run 'foo': not found in PATH");
  const exit_status refused = failure(argv("./foo"), wire::start_step::exec, EACCES);
  CHECK(refused.code() == 126);
  CHECK(refused.message() == "cannot run './foo': Permission denied");
  const exit_status nowhere = failure(argv("foo").cwd("/x"), wire::start_step::cwd, ENOENT);
  CHECK(nowhere.code() == 126);
  CHECK(nowhere.message() == "working directory '/x': No such file or directory");
  CHECK(failure(argv("foo"), wire::start_step::resources, EMFILE).message() ==
        "too many open files: no descriptor is left for the streams of the command");
  CHECK(failure(argv("foo").terminal(80, 24), wire::start_step::terminal, ENOSPC).message() ==
        "no terminal can be opened: No space left on device");
}

TEST_CASE("start: a limit that is refused is named") {
  const auto message = [](resource_limits limits, wire::limit kind) {
    const start_request request(argv("foo").limits(limits), {}, true);
    const exit_status status = request.failure({wire::start_step::limits, EPERM, static_cast<std::uint32_t>(kind)});
    CHECK(status.code() == 126);
    return status.message();
  };
  CHECK(message(resource_limits().open_files(5000), wire::limit::open_files) ==
        "cannot set the limit of open files to 5000: Operation not permitted");
  CHECK(message(resource_limits().cpu_time(std::chrono::seconds(7)).memory(1), wire::limit::cpu_time) ==
        "cannot set the limit of processor seconds to 7: Operation not permitted");
  CHECK(message(resource_limits().nice(-3), wire::limit::nice) ==
        "cannot add -3 to the niceness: Operation not permitted");
  CHECK(message(resource_limits(), wire::limit::nice) == "cannot set a limit: Operation not permitted");
}

TEST_CASE("start: limits go to a cgroup where the place offers it, and then not to each process") {
  cgroup_place place;
  place.path = "/sys/fs/cgroup/x";
  place.memory = true;
  const auto sent = [&place](resource_limits limits, const cgroup_place* where) {
    start_request request(argv("foo").limits(limits), {}, true, where);
    CHECK(request.cgroup() == (where != nullptr && limits.memory() ? place.path : ""));
    const std::string frame = request.frame(1);
    wire::start fields;
    wire::reader rest(std::string_view(frame).substr(wire::header_size));
    CHECK(fields.get(rest));
    CHECK(fields.cgroup == request.cgroup());
    CHECK(fields.cgroup_processes == 0);
    return std::to_string(fields.cgroup_memory) + " " + std::to_string(fields.limitc);
  };
  const auto both = resource_limits().memory(7).processes(8);
  CHECK(sent(both, nullptr) == "0 2");
  CHECK(sent(both, &place) == "7 1");
  CHECK(sent(resource_limits().processes(8), &place) == "0 1");
  start_request request(argv("foo").limits(both), {}, true, &place);
  const exit_status failed = request.failure(wire::start_step::cgroup, EACCES);
  CHECK(failed.code() == 126);
  CHECK(failed.message() ==
        "no cgroup for the limits of the command can be made below '/sys/fs/cgroup/x': Permission denied");
}

TEST_CASE("start: a request that no frame can hold is known before it is sent") {
  const command small = argv("echo", std::string(1000, 'x'));
  CHECK(start_request(small, {}, true).fits());
  const command large = argv("echo", std::string(9u << 20, 'x'));
  const start_request request(large, {}, true);
  CHECK_FALSE(request.fits());
  CHECK(
      request.failure(wire::start_step::request, E2BIG).message().find("the arguments and environment are too long") ==
      0);
}

TEST_CASE("start: so many descriptors come as streams are handed over") {
  CHECK(start_request(argv("x"), {}, true).fds() == 2);
  CHECK(start_request(argv("x").merge_stderr(), {}, true).fds() == 1);
  CHECK(start_request(argv("x").input_stream(), {}, true).fds() == 3);
  CHECK(start_request(argv("x").input_stream(), {}, false).fds() == 0);
  CHECK(start_request(argv("x").input_stream().terminal(80, 24), {}, true).fds() == 1);
  CHECK(start_request(argv("x").terminal(80, 24), {}, false).fds() == 0);
}

}  // namespace
}  // namespace berth::test
