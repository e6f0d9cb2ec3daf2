/// Problems that users of other clients have reported, tried in containers of a real daemon; docs/docker.md lists them.
#include "docker/container.hpp"
#include "docker/places.hpp"
#include "support/waiting.hpp"

#include <berth/error.hpp>
#include <berth/terminal.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>

using namespace berth;
using namespace berth::test;
using namespace std::chrono_literals;

namespace {

using trial = std::function<task<void>(context& place, handle where)>;

/// In a container over a handed socket, and in one over frames.
task<void> try_both(asio::io_context& io, docker_context_options options, trial what) {
  for (const bool try_socket : {true, false}) {
    CAPTURE(try_socket);
    context place = make_place(io, options, try_socket);
    const handle where = co_await place.spawn();
    co_await what(place, where);
    co_await place.destroy(where);
  }
}

task<std::error_code> failure_of(task<void> work) {
  try {
    co_await std::move(work);
  } catch (const error& failure) {
    co_return failure.code();
  }
  co_return std::error_code();
}

task<void> end_of_input(context& place, handle where) {
  const exec_result none = co_await place.exec(where, command("cat; echo end").timeout(command_takes));
  CHECK(none.std_out == "end\n");
  const exec_result some = co_await place.exec(where, command("cat; echo end").input("in\n").timeout(command_takes));
  CHECK(some.std_out == "in\nend\n");
}

task<void> many_short_ones(context& place, handle where) {
  for (int i = 0; i < 100; ++i) {
    const std::string text = std::to_string(i);
    const exec_result result = co_await place.exec(where, argv("echo", text).timeout(command_takes));
    CHECK(result.std_out == text + "\n");
  }
}

task<void> parts_of_signs(context& place, handle where) {
  // One sign of three bytes, in two writes; and bytes that are no text at all.
  const char* const text = R"(printf '\342\202'; sleep 0.2; printf '\254\377\000x')";
  const exec_result result = co_await place.exec(where, command(text).timeout(command_takes));
  CHECK(result.std_out == std::string("\xe2\x82\xac\xff\0x", 6));
  // A line longer than any buffer on its way.
  const exec_result line =
      co_await place.exec(where, command("head -c 300000 /dev/zero | tr '\\0' a").timeout(command_takes));
  CHECK(line.std_out == std::string(300000, 'a'));
}

task<void> daemonised_child(context& place, handle where) {
  const auto began = std::chrono::steady_clock::now();
  const char* const text = "(setsid sleep 300 &) ; echo parent";
  const exec_result result = co_await place.exec(where, command(text).timeout(command_takes));
  CHECK(result.status.ok());
  CHECK(result.std_out == "parent\n");
  CHECK(result.streams_open);
  CHECK(std::chrono::steady_clock::now() - began < 20s);
}

task<void> no_zombies(context& place, handle where) {
  const char* const orphans = "for i in 1 2 3 4 5 6 7 8; do (sleep 0.1 & ) ; done; sleep 0.5";
  const exec_result made = co_await place.exec(where, command(orphans).timeout(command_takes));
  CHECK(made.status.ok());
  const exec_result seen = co_await place.exec(where, command("grep -l '^State:.Z' /proc/[0-9]*/status | wc -l"));
  CHECK(seen.std_out == "0\n");
}

task<void> failed_starts(context& place, handle where) {
  const exec_result missing = co_await place.exec(where, argv("nosuchprogram"));
  CHECK(missing.status.reason() == end_reason::start_failed);
  CHECK(missing.status.code() == 127);
  CHECK(missing.std_out.empty());
  CHECK(missing.std_err.empty());
  const exec_result refused = co_await place.exec(where, argv("/etc/passwd"));
  CHECK(refused.status.reason() == end_reason::start_failed);
  CHECK(refused.status.code() == 126);
  const exec_result nowhere = co_await place.exec(where, command("true").cwd("/nowhere"));
  CHECK(nowhere.status.reason() == end_reason::start_failed);
  const exec_result own = co_await place.exec(where, command("echo OCI runtime exec failed; exit 126"));
  CHECK(own.status.reason() == end_reason::exited);
  CHECK(own.status.code() == 126);
}

task<void> terminals(context& place, handle where) {
  terminal_options options;
  options.size(101, 33).run(command("stty size; printf prompt; read line; stty size; exit 5"));
  terminal one = co_await place.open_terminal(where, options);
  // At once, whatever state it is in; and what has no end of line comes too.
  one.resize(90, 20);
  one.resize(101, 34);
  const auto prompt = co_await one.wait_for_output(output_pattern("prompt"), command_takes);
  CHECK(prompt);
  co_await one.write("\x10\x11");  // ctrl-p ctrl-q ends nothing
  co_await one.write("\n");
  const exit_status status = co_await one.exited();
  CHECK(status.code() == 5);
  const std::string all(one.tail().bytes());
  CHECK_MESSAGE(all.find("34 101") != std::string::npos, all);
  CHECK_MESSAGE(all.find("0 0") == std::string::npos, all);
  one.resize(80, 24);  // it has ended: nothing
}

task<void> full_disk(context& place, handle where) {
  co_await place.write_file(where, "/small/before", "fits");
  auto writing = place.write_file(where, "/small/big", std::string(std::size_t{4} << 20, 'x'));
  const std::error_code code = co_await failure_of(std::move(writing));
  CHECK(code == errc::resource_exhausted);
  const exec_result names = co_await place.exec(where, command("ls -A /small; cat /small/before"));
  CHECK(names.std_out == "before\nfits");
}

task<void> files_in_tmpfs(context& place, handle where) {
  co_await place.write_file(where, "/small/file", "bytes");
  const exec_result seen = co_await place.exec(where, command("cat /small/file; echo more > /small/other"));
  CHECK(seen.std_out == "bytes");
  const std::string other = co_await place.read_file(where, "/small/other");
  CHECK(other == "more\n");
}

docker_context_options with_tmpfs(const std::string& host) {
  docker_context_options options = small_container(host);
  docker_mount small;
  small.kind = mount_kind::tmpfs;
  small.target = "/small";
  small.size_mb = 1;
  options.mounts.push_back(small);
  return options;
}

}  // namespace

DOCKER_TEST("problem: a command that is given no input sees its end") {
  co_await try_both(io, small_container(daemon.front().url), end_of_input);
}
DOCKER_TEST("problem: the output of short commands is whole") {
  co_await try_both(io, small_container(daemon.front().url), many_short_ones);
}
DOCKER_TEST("problem: bytes are bytes, wherever they are cut, and long lines whole") {
  co_await try_both(io, small_container(daemon.front().url), parts_of_signs);
}
DOCKER_TEST("problem: a child that went into the background holds nobody up") {
  co_await try_both(io, small_container(daemon.front().url), daemonised_child);
}
DOCKER_TEST("problem: orphans are reaped") { co_await try_both(io, small_container(daemon.front().url), no_zombies); }
DOCKER_TEST("problem: failed starts are told from output, with one code each") {
  co_await try_both(io, small_container(daemon.front().url), failed_starts);
}
DOCKER_TEST("problem: terminals have their size from the start, and may be resized at any time") {
  co_await try_both(io, small_container(daemon.front().url), terminals);
}
DOCKER_TEST("problem: a full disk is an error, and leaves no part of a file") {
  co_await try_both(io, with_tmpfs(daemon.front().url), full_disk);
}
DOCKER_TEST("problem: files in a tmpfs are where commands see them") {
  co_await try_both(io, with_tmpfs(daemon.front().url), files_in_tmpfs);
}

DOCKER_TEST("problem: a name that is taken is a conflict, and without one none is") {
  docker_context_options options = small_container(daemon.front().url);
  options.name = "berth-test-taken-" + std::to_string(::getpid());
  context first = make_place(io, options, true);
  const handle where = co_await first.spawn();
  std::string message;
  try {
    co_await first.spawn();
  } catch (const error& failure) {
    CHECK(failure.code() == errc::conflict);
    message = failure.what();
  }
  CHECK(message.find(options.name) != message.npos);
  co_await first.destroy(where);
  options.name.clear();
  context second = make_place(io, options, true);
  const handle one = co_await second.spawn();
  const handle two = co_await second.spawn();
  co_await second.destroy(one);
  co_await second.destroy(two);
}

DOCKER_TEST("problem: a directory that is to be mounted and is not there is an error, and is not made") {
  docker_context_options options = small_container(daemon.front().url);
  docker_mount missing;
  missing.source = "/var/tmp/berth-test-nowhere-" + std::to_string(::getpid());
  missing.target = "/mounted";
  options.mounts.push_back(missing);
  context place = make_place(io, options, true);
  std::string message;
  try {
    co_await place.spawn();
  } catch (const error& failure) {
    CHECK(failure.code() == errc::invalid_argument);
    message = failure.what();
  }
  CHECK(message.find(missing.source) != message.npos);
  CHECK_FALSE(std::filesystem::exists(missing.source));
  const auto left = co_await containers_of_test(io, daemon);
  CHECK(left.empty());
}

DOCKER_TEST("problem: a layer that is damaged fails the pull, though the reply began well") {
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon);
  pull_request what;
  what.image = variable("BERTH_TEST_REGISTRY") + "/test/damaged:1";
  auto pulling = pull_image(engine, what);
  const std::error_code code = co_await failure_of(std::move(pulling));
  CHECK(code == errc::protocol);
  const auto found = co_await find_image(engine, what.image);
  CHECK_FALSE(found);
}
