/// Commands and files of containers in which no resident lives.
#include "docker/archive_reader.hpp"
#include "docker/exec_words.hpp"
#include "docker/given_container.hpp"
#include "support/temp_dir.hpp"
#include "support/waiting.hpp"

#include <berth/context.hpp>
#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <cstdio>

#include <algorithm>

using namespace berth;
using namespace berth::test;
using namespace std::chrono_literals;

namespace {

std::string refused(std::string_view text, int code) {
  const exit_status status = exec_refusal(argv("prog").cwd("/there"), text);
  CHECK(status.reason() == end_reason::start_failed);
  CHECK(status.code() == code);
  return status.message();
}

task<container> start_given(asio::io_context& io, std::vector<daemon_address> daemon, given_spec what) {
  auto connecting = docker_engine::connect(io.get_executor(), std::move(daemon));
  const auto engine = co_await std::move(connecting);
  auto running = run_given(engine, std::move(what));
  co_return co_await std::move(running);
}

given_spec debian() {
  given_spec spec;
  spec.image = "test/debian:1";
  spec.argv = {"sleep", "1000"};
  return spec;
}

}  // namespace

TEST_CASE("engine exec: what the runtime says becomes what a person says") {
  CHECK(
      refused("OCI runtime exec failed: exec failed: container_linux.go:380: starting container process caused: exec: "
              "\"prog\": executable file not found in $PATH: unknown\r\n",
              127) == "cannot run 'prog': not found in PATH");
  CHECK(refused("... exec: \"/prog\": stat /prog: no such file or directory: unknown", 127) ==
        "cannot run 'prog': No such file or directory");
  CHECK(refused("... starting container process caused: exec: \"/x\": permission denied: unknown", 126) ==
        "cannot run 'prog': Permission denied");
  CHECK(refused("... chdir to cwd (\"/there\") set in config.json failed: no such file or directory", 126) ==
        "working directory '/there': No such file or directory");
  CHECK(refused("something\nnew\n", 126) == "cannot run 'prog': something new");
  CHECK(looks_refused(126, "OCI runtime exec failed: x"));
  CHECK_FALSE(looks_refused(3, "OCI runtime exec failed: x"));
  CHECK_FALSE(looks_refused(126, "sh: x: Permission denied"));
  CHECK(refuse_too_long(argv(std::string(131072, 'x'))).reason() == end_reason::start_failed);
  CHECK(refuse_too_long(argv(std::string(131071, 'x'))).reason() == end_reason::unknown);
}

TEST_CASE("engine files: times and archives of the daemon") {
  const auto at = [](const char* text) { return read_rfc3339(text).time_since_epoch() / 1ns; };
  CHECK(at("1970-01-02T00:00:01Z") == 86401000000000);
  CHECK(at("1970-01-02T01:00:01.5+01:00") == 86401500000000);
  CHECK_THROWS_AS((void)read_rfc3339("yesterday"), error);
  tar_entry one;
  one.path = "./" + std::string(150, 'd') + "/name";
  one.content = "bytes";
  one.mode = 0640;
  archive_reader reader(tar_of({one}));
  archived_entry found;
  REQUIRE(reader.next(found));
  CHECK(found.path == std::string(150, 'd') + "/name");
  CHECK(found.mode == 0640);
  CHECK(reader.content() == "bytes");
  CHECK_FALSE(reader.next(found));
  CHECK_THROWS_AS(archive_reader(std::string(2000, 'x')).next(found), error);
}

TEST_CASE("engine files: names are bytes in the archives for a daemon, whatever the locale") {
  std::vector<tar_entry> entries;
  for (const std::string& name :
       {std::string("h\xc3\xa9/\xe4\xb8\x96"), std::string("a\xff"), std::string(300, '\xfe')}) {
    entries.emplace_back();
    entries.back().path = name;
    entries.back().content = name;
    entries.emplace_back();
    entries.back().path = "to-" + name;
    entries.back().link_target = name;
  }
  archive_reader reader(tar_of(entries));
  archived_entry found;
  for (const tar_entry& each : entries) {
    REQUIRE(reader.next(found));
    CHECK(found.path == each.path);
    CHECK(found.target == each.link_target);
    CHECK(reader.content() == each.content);
  }
  CHECK_FALSE(reader.next(found));
}

TEST_CASE("engine files: an entry that says it is longer than its archive takes no memory") {
  std::string tar(2048, '\0');
  const auto put = [&tar](std::size_t at, std::string_view text) { tar.replace(at, text.size(), text); };
  put(0, "big");
  put(100, "0000644");
  put(124, "77777777777");
  put(156, "0");
  put(257, "ustar");
  put(263, "00");
  put(148, std::string(8, ' '));
  unsigned sum = 0;
  for (int i = 0; i < 512; ++i) sum += static_cast<unsigned char>(tar[static_cast<std::size_t>(i)]);
  char digits[8] = {};
  std::snprintf(digits, sizeof digits, "%06o", sum);
  put(148, std::string_view(digits, 7));
  archive_reader reader(std::move(tar));
  archived_entry found;
  REQUIRE(reader.next(found));
  CHECK(found.size == 077777777777);
  CHECK_THROWS_AS(reader.content(), error);
}

DOCKER_TEST("engine exec: output, input, exit codes and start failures are those of the command") {
  const container box = co_await start_given(io, daemon, debian());
  docker_context place = context_in(io, daemon, box, docker_runner::engine);
  CHECK_FALSE(place.can().kills_tree);
  const handle where = co_await place.spawn(spawn_options().cwd("/places/a b").env("WHO", "me"));
  const exec_result plain = co_await place.exec(where, command("pwd; echo $WHO$X; echo err >&2; exit 3").env("X", "!"));
  CHECK(plain.std_out == "/places/a b\nme!\n");
  CHECK(plain.std_err == "err\n");
  CHECK(plain.status == exit_status::exited(3));
  const exec_result fed = co_await place.exec(where, command("wc -c").input(std::string(1000000, 'x')));
  CHECK(fed.std_out == "1000000\n");
  const exec_result much = co_await place.exec(where, command("head -c 3000000 /dev/zero"));
  CHECK(much.out.seen() == 3000000);
  const exec_result merged = co_await place.exec(where, command("echo a; echo b >&2; echo c").merge_stderr());
  CHECK(merged.std_out == "a\nb\nc\n");
  const exec_result unset = co_await place.exec(where, command("echo ${WHO-none}").unset_env("WHO"));
  CHECK(unset.std_out == "none\n");
  const exec_result missing = co_await place.exec(where, argv("no-such-program"));
  CHECK(missing.status == exit_status::start_failed(127, "cannot run 'no-such-program': not found in PATH"));
  CHECK(missing.std_out.empty());
  const exec_result nowhere = co_await place.exec(where, command("true").cwd("/nowhere"));
  CHECK(nowhere.status.reason() == end_reason::start_failed);
  CHECK(nowhere.status.message() == "working directory '/nowhere': No such file or directory");
  const exec_result own = co_await place.exec(where, command("echo OCI runtime exec failed; exit 126"));
  CHECK(own.status == exit_status::exited(126));
  CHECK(own.std_out == "OCI runtime exec failed\n");
  CHECK_THROWS_AS((void)co_await place.exec(where, command("true").end_leftovers()), error);
  co_await place.destroy(where);
  co_await box.remove();
}

DOCKER_TEST("engine exec: a terminal, its size and its end of input") {
  const container box = co_await start_given(io, daemon, debian());
  docker_context place = context_in(io, daemon, box, docker_runner::engine);
  const handle where = co_await place.spawn();
  auto typed = co_await place.exec_stream(
      where, command("sleep 1; stty size; read x; stty size; cat; echo end").terminal(100, 30).input_stream());
  std::string seen;
  const auto until = [&](const char* text) -> bool { return seen.find(text) != std::string::npos; };
  while (!until("30 100")) {
    const auto piece = co_await typed.next();
    REQUIRE(piece);
    seen += piece->bytes();
  }
  typed.resize(90, 20);
  co_await pause_for(300ms);
  co_await typed.write("\n");
  while (!until("20 90")) {
    const auto piece = co_await typed.next();
    REQUIRE(piece);
    seen += piece->bytes();
  }
  co_await typed.close_stdin();
  while (const auto piece = co_await typed.next()) seen += piece->bytes();
  CHECK(until("end"));
  CHECK(typed.status()->ok());
  co_await place.destroy(where);
  co_await box.remove();
}

DOCKER_TEST("engine exec: a deadline passes, and what cannot be ended is named") {
  const container box = co_await start_given(io, daemon, given_spec());
  docker_context place = context_in(io, daemon, box, docker_runner::engine);
  const handle where = co_await place.spawn();
  const exec_result late = co_await place.exec(where, command("echo began; exec sleep 1008").timeout(1s).grace(100ms));
  CHECK(late.status.reason() == end_reason::timed_out);
  CHECK(late.status.message() == "the Engine cannot end a command: it may run on");
  CHECK(late.std_out == "began\n");
  REQUIRE(late.survivors.size() == 1);
  CHECK(late.survivors.front().pid > 0);
  const std::vector<std::string> lines = co_await processes_of(box);
  CHECK(std::find(lines.begin(), lines.end(), "sleep 1008") != lines.end());
  auto running = co_await place.exec_stream(where, command("sleep 1009"));
  co_await place.destroy(where);
  const exit_status end = co_await running.wait();
  CHECK(end.reason() == end_reason::lost);
  co_await box.remove();
}

DOCKER_TEST("engine exec: the end of the container is no exit") {
  const container box = co_await start_given(io, daemon, given_spec());
  docker_context place = context_in(io, daemon, box, docker_runner::engine);
  const handle where = co_await place.spawn();
  const exec_result killed = co_await place.exec(where, command("kill -9 $$"));
  CHECK(killed.status == exit_status::exited(137));
  auto sleeping = co_await place.exec_stream(where, command("sleep 1010"));
  co_await box.remove();
  const exit_status end = co_await sleeping.wait();
  CHECK(end.reason() == end_reason::lost);
  const exec_result late = co_await place.exec(where, command("true"));
  CHECK(late.status.reason() == end_reason::lost);
  co_await place.destroy(where);
}

DOCKER_TEST("engine exec: it serves where no resident can live, and says so") {
  given_spec spec;
  spec.host = json::parse(R"({"ReadonlyRootfs":true,"Tmpfs":{"/tmp":"rw,noexec","/dev/shm":"rw,noexec"}})");
  const container box = co_await start_given(io, daemon, std::move(spec));
  std::string warned;
  docker_context_options options;
  options.host = daemon.front().url;
  options.container = box.id();
  options.log = [&warned](log_level level, std::string_view text) {
    if (level == log_level::warning) warned += text;
  };
  docker_context place = make_docker_context(io, std::move(options));
  CHECK(place.can().kills_tree);
  const handle where = co_await place.spawn();
  CHECK_FALSE(place.can().kills_tree);
  CHECK(warned.find("the Engine itself runs commands") != std::string::npos);
  const exec_result result = co_await place.exec(where, command("echo hi > /tmp/x; cat /tmp/x"));
  CHECK(result.std_out == "hi\n");
  co_await place.destroy(where);
  co_await box.remove();
}

DOCKER_TEST("engine files: read, write, list and change, as far as archives and programs reach") {
  given_spec spec;
  spec.host = json::parse(R"({"Tmpfs":{"/mem":"rw"}})");
  const container box = co_await start_given(io, daemon, std::move(spec));
  docker_context place = context_in(io, daemon, box, docker_runner::engine);
  const handle where = co_await place.spawn(spawn_options().cwd("/w"));
  co_await place.write_file(where, "sub/dir/file", "bytes", write_options().mode(0640));
  const exec_result seen =
      co_await place.exec(where, command("cat sub/dir/file; stat -c %a sub/dir/file; ln -s sub/dir/file link"));
  CHECK(seen.std_out == "bytes640\n");
  const std::string part = co_await place.read_file(where, "link", read_options(1, 3));
  CHECK(part == "yte");
  co_await place.write_file(where, "link", "others");
  const file_info info = co_await place.stat(where, "sub/dir/file");
  CHECK(info.size() == 6);
  CHECK(info.mode() == 0640);
  const file_info link = co_await place.stat(where, "link");
  CHECK(link.type() == file_type::symlink);
  CHECK(link.link_target() == "sub/dir/file");
  const auto flat = co_await place.list_files(where, ".");
  REQUIRE(flat.size() == 2);
  CHECK(flat[1].path() == "sub");
  const auto deep = co_await place.list_files(where, ".", list_options().recursive());
  CHECK(deep.size() == 4);
  co_await place.rename(where, "sub/dir/file", "moved");
  const std::string moved = co_await place.read_file(where, "moved");
  CHECK(moved == "others");
  const auto code_of = [](task<void> work) -> task<std::error_code> {
    try {
      co_await std::move(work);
    } catch (const error& failure) {
      co_return failure.code();
    }
    co_return std::error_code();
  };
  CHECK(co_await code_of(place.remove(where, "sub")) == errc::conflict);
  co_await place.remove(where, "sub", remove_options().recursive());
  CHECK(co_await code_of(place.remove(where, "sub")) == errc::not_found);
  CHECK(co_await code_of(place.make_directory(where, "moved/x")) == errc::not_a_directory);
  CHECK(co_await code_of(place.write_file(where, "/mem/x", "lost")) == errc::unsupported);
  CHECK(co_await code_of(place.write_file(where, "moved", "x", write_options().expect_absent())) ==
        errc::already_exists);
  CHECK(co_await code_of(place.write_file(where, "moved", "x", write_options().durable())) == errc::unsupported);
  co_await place.destroy(where);
  co_await box.remove();
}

DOCKER_TEST("engine files: trees go up and come down") {
  const container box = co_await start_given(io, daemon, given_spec());
  docker_context place = context_in(io, daemon, box, docker_runner::engine);
  const handle where = co_await place.spawn(spawn_options().cwd("/w"));
  const temp_dir host;
  std::filesystem::create_directories(host.path() / "up/a/b");
  write_whole_file(host.path() / "up/a/b/file", "bytes");
  co_await place.upload(where, (host.path() / "up").string(), "tree");
  const exec_result seen =
      co_await place.exec(where, command("cat tree/a/b/file; ln -s b tree/a/link; echo no > tree/a/out.log"));
  CHECK(seen.std_out == "bytes");
  const std::string down = (host.path() / "down").string();
  co_await place.download(where, "tree", down, transfer_options().exclude("*.log"));
  CHECK(read_whole_file(down + "/a/link/file") == "bytes");
  CHECK_FALSE(std::filesystem::exists(down + "/a/out.log"));
  co_await place.destroy(where);
  co_await box.remove();
}

namespace {

docker_context own_context(asio::io_context& io, const std::vector<daemon_address>& daemon, std::string image,
                           docker_runner runner) {
  docker_context_options options;
  options.host = daemon.front().url;
  options.image = std::move(image);
  options.network = "none";
  options.runner = runner;
  return make_docker_context(io, std::move(options));
}

task<bool> is_gone(asio::io_context& io, std::vector<daemon_address> daemon, std::string id) {
  auto connecting = docker_engine::connect(io.get_executor(), std::move(daemon));
  const container box(co_await std::move(connecting), std::move(id));
  for (int i = 0; i < 200; ++i) {
    const auto state = co_await box.state();
    if (!state) co_return true;
    co_await pause_for(50ms);
  }
  co_return false;
}

}  // namespace

DOCKER_TEST("engine exec: a container of ours for another architecture, which an emulator runs") {
  docker_context place = own_context(io, daemon, "test/emulated:1", docker_runner::automatic);
  const handle where = co_await place.spawn();
  CHECK_FALSE(place.can().kills_tree);
  const exec_result result = co_await place.exec(where, command("pwd; ps | head -n 2 | tail -n 1"));
  CHECK(result.std_out.starts_with("/workspace\n"));
  CHECK(result.std_out.find("init") != std::string::npos);
  const std::string id = place.container_id(where);
  co_await place.destroy(where);
  CHECK(co_await is_gone(io, daemon, id));
  docker_context strict = own_context(io, daemon, "test/emulated:1", docker_runner::resident);
  CHECK_THROWS_AS((void)co_await strict.spawn(), error);
}

DOCKER_TEST("engine exec: a container of ours goes with its context, also where no resident sees to it") {
  std::string id;
  {
    docker_context place = own_context(io, daemon, "test/busybox:1", docker_runner::engine);
    const handle where = co_await place.spawn();
    id = place.container_id(where);
    const exec_result result = co_await place.exec(where, command("echo hi"));
    CHECK(result.std_out == "hi\n");
  }
  CHECK(co_await is_gone(io, daemon, id));
}

DOCKER_TEST("engine exec: an image in which nothing stays alive is refused") {
  docker_context place = own_context(io, daemon, "test/scratch:1", docker_runner::engine);
  std::string message;
  try {
    co_await place.spawn();
  } catch (const error& failure) {
    CHECK(failure.code() == errc::unsupported);
    message = failure.message();
  }
  CHECK(message.find("nothing keeps its container alive") != std::string::npos);
}
