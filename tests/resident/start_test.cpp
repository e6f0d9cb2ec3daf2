#include "resident/client.hpp"

#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

using namespace berth;
using namespace berth::test;
using wire::frame_type;
using wire::start_step;

namespace {

namespace fs = std::filesystem;

std::string make_program(const temp_dir& folder, const std::string& name, const std::string& text, mode_t mode = 0755) {
  const std::string path = folder / name;
  write_whole_file(path, text);
  REQUIRE(chmod(path.c_str(), mode) == 0);
  return path;
}

void check_failure(const start_request& request, start_step step, int error) {
  client c;
  c.start(1, request);
  const wire::start_failed f = c.expect_failure(1);
  CHECK(f.step == step);
  CHECK(static_cast<int>(f.error) == error);
  CHECK(becomes([&] { return tagged(c.nonce(), 1).empty(); }));
  CHECK(c.stays_silent(frame_type::exited, 1, milliseconds(20)));
}

/// Output of a command that succeeds.
std::string output_of(const start_request& request) {
  client c;
  c.run(1, request);
  const std::string text = c.output(1);
  CHECK(c.expect_exit(1).wait_status == 0);
  return text;
}

struct as_nobody {
  void operator()() const {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(125);
  }
};

}  // namespace

TEST_CASE("start: a program that is missing") {
  check_failure({{"/nonexistent/program"}}, start_step::exec, ENOENT);
  check_failure({{"no-program-has-this-name"}}, start_step::exec, ENOENT);
  check_failure({{""}}, start_step::exec, ENOENT);
  check_failure({{"/bin/sh/below"}}, start_step::exec, ENOENT);
}

TEST_CASE("start: a file that may not be run, and a folder") {
  temp_dir folder;
  check_failure({{make_program(folder, "data", "text", 0644)}}, start_step::exec, EACCES);
  check_failure({{folder.path().string()}}, start_step::exec, EACCES);
  start_request searched{{"data"}};
  searched.env = {"PATH=/nowhere:" + folder.path().string() + ":/nowhere"};
  check_failure(searched, start_step::exec, EACCES);
}

TEST_CASE("start: a working directory that is missing, or is none") {
  start_request request = shell("true");
  request.cwd = "/nonexistent/folder";
  check_failure(request, start_step::cwd, ENOENT);
  request.cwd = "/bin/sh";
  check_failure(request, start_step::cwd, ENOTDIR);
}

TEST_CASE("start: words that are too long for the kernel") {
  check_failure({{"/bin/true", std::string(200 * 1024, 'x')}}, start_step::exec, E2BIG);
  start_request request{{"/bin/true"}};
  for (int i = 0; i < 70; ++i) request.argv.push_back(std::string(100 * 1024, 'x'));
  check_failure(request, start_step::exec, E2BIG);
}

TEST_CASE("start: a malformed request") {
  start_request no_words;
  check_failure(no_words, start_step::request, EINVAL);
  check_failure({{"/bin/echo", std::string("a\0b", 3)}}, start_step::request, EINVAL);
  start_request nul = shell("true");
  nul.env = {std::string("A=\0", 3)};
  check_failure(nul, start_step::request, EINVAL);
  nul.env = {};
  nul.cwd = std::string("/\0tmp", 5);
  check_failure(nul, start_step::request, EINVAL);

  client c;
  const std::string whole = start_bytes(shell("true"));
  for (std::size_t size = wire::start::least_size; size < whole.size(); ++size) {
    const auto id = static_cast<std::uint32_t>(size);
    c.send(frame_type::start, id, std::string_view(whole).substr(0, size));
    CHECK(c.expect_failure(id).step == start_step::request);
  }
  c.send(frame_type::start, 1, whole + "x");
  CHECK(c.expect_failure(1).step == start_step::request);
}

TEST_CASE("start: counts that cannot be are refused, whatever they promise") {
  client c;
  for (const std::uint32_t count : {2u, 1000000u, 0x80000000u, 0xffffffffu}) {
    wire::start s;
    s.argc = 1;
    s.envc = count;
    std::string bytes;
    s.put(bytes);
    wire::writer(bytes).bytes("true");
    c.send(frame_type::start, count, bytes);
    CHECK(c.expect_failure(count).step == start_step::request);
    s.argc = count;
    s.envc = 0xffffffff;
    bytes.clear();
    s.put(bytes);
    wire::writer(bytes).bytes("true");
    c.send(frame_type::start, count + 1, bytes);
    CHECK(c.expect_failure(count + 1).step == start_step::request);
  }
}

TEST_CASE("start: handing over needs a socket") {
  client c({.over = transport::pipes});
  c.start(1, shell("true", wire::start_hand_over));
  CHECK(c.expect_failure(1).step == start_step::request);
}

TEST_CASE("start: what fails does not end what runs, and leaves no descriptor open") {
  client c;
  const std::string fds = "/proc/" + std::to_string(c.pid()) + "/fd";
  const auto open_now = [&] { return std::distance(fs::directory_iterator(fds), fs::directory_iterator()); };
  const auto before = open_now();
  for (std::uint32_t id = 1; id <= 50; ++id) c.start(id, {{"/nonexistent"}, id % 2 == 0 ? 3u : 2u});
  for (std::uint32_t id = 1; id <= 50; ++id) c.expect_failure(id);
  CHECK(open_now() == before);
  c.run(100, shell("exit 3"));
  CHECK(c.expect_exit(100).wait_status == 3 << 8);
}

TEST_CASE("path: searched in the order of the command's own PATH") {
  temp_dir first;
  temp_dir second;
  make_program(first, "tool", "#!/bin/sh\necho first\n");
  make_program(second, "tool", "#!/bin/sh\necho second\n");
  start_request request{{"tool"}};
  request.env = {"PATH=/nowhere:/bin/sh:" + second.path().string() + ":" + first.path().string() + ":/bin"};
  CHECK(output_of(request) == "second\n");
}

TEST_CASE("path: a folder that may not be searched, and a file that may not be run, are passed over") {
  temp_dir closed;
  temp_dir plain;
  temp_dir right;
  fs::create_directory(closed.path() / "in");
  make_program(closed, "in/tool", "#!/bin/sh\necho hidden\n");
  make_program(plain, "tool", "text", 0644);
  make_program(right, "tool", "#!/bin/sh\necho right\n");
  fs::permissions(closed.path() / "in", fs::perms::none);
  const std::string before = closed / "in:" + plain.path().string();

  client c({.before_exec = as_nobody()});
  start_request request{{"tool"}};
  request.env = {"PATH=" + before + ":" + right.path().string()};
  c.run(1, request);
  CHECK(c.output(1) == "right\n");

  request.env = {"PATH=" + before};
  c.start(2, request);
  CHECK(c.expect_failure(2).error == EACCES);
  request.env = {"PATH=" + (closed / "in")};
  c.start(3, request);
  CHECK(c.expect_failure(3).error == ENOENT);
  c.start(4, {{closed / "in/tool"}});
  CHECK(c.expect_failure(4).error == EACCES);
}

TEST_CASE("path: an empty entry is the working directory, an unset PATH has a default") {
  temp_dir folder;
  make_program(folder, "tool", "#!/bin/sh\necho here\n");
  start_request request{{"tool"}};
  request.cwd = folder.path();
  for (const char* path : {"PATH=", "PATH=:", "PATH=/nowhere:", "PATH=/nowhere::/bin", "PATH=."}) {
    request.env = {path};
    CHECK(output_of(request) == "here\n");
  }
  start_request plain{{"echo", "found"}, wire::start_clear_env};
  CHECK(output_of(plain) == "found\n");
  plain.argv = {"tool"};
  plain.cwd = folder.path();
  check_failure(plain, start_step::exec, ENOENT);
}

TEST_CASE("path: a relative folder is seen from the new working directory") {
  temp_dir folder;
  fs::create_directory(folder.path() / "bin");
  make_program(folder, "bin/tool", "#!/bin/sh\necho relative\n");
  start_request request{{"tool"}};
  request.cwd = folder.path();
  request.env = {"PATH=bin:/bin"};
  CHECK(output_of(request) == "relative\n");
  request.argv = {"bin/tool"};
  request.env = {};
  CHECK(output_of(request) == "relative\n");
}

TEST_CASE("start: a script without #! is run by /bin/sh with its words") {
  temp_dir folder;
  const std::string script = make_program(folder, "script", "echo \"$0|$1|$2|$#\"\n");
  CHECK(output_of({{script, "a b", ""}}) == script + "|a b||2\n");
  start_request searched{{"script", "x"}};
  searched.env = {"PATH=" + folder.path().string() + ":/bin"};
  CHECK(output_of(searched) == script + "|x||1\n");
}

TEST_CASE("start: argv is passed as it is") {
  const std::string odd = "a'b\"c $x \xff\n";
  CHECK(output_of({{"/bin/sh", "-c", "printf '%s|' \"$0\" \"$@\"", "zero", odd, "", "-n"}}) == "zero|" + odd + "||-n|");
}

TEST_CASE("environment: set, changed, unset, in order, and cleared") {
  setenv("BERTH_INHERITED", "yes", 1);
  start_request request = shell("echo ${BERTH_INHERITED-none} ${A-none} ${B-none} ${C-none}");
  CHECK(output_of(request) == "yes none none none\n");
  request.env = {"A=1", "B=", "BERTH_INHERITED=changed", "A=2", "C=gone", "C"};
  CHECK(output_of(request) == "changed 2 none\n");
  request.env = {"BERTH_INHERITED", "NEVER_SET"};
  CHECK(output_of(request) == "none none none none\n");
  start_request clear{{"/usr/bin/env"}, wire::start_clear_env};
  CHECK(output_of(clear).empty());
  clear.env = {"X=1=2", "Y=\xc3\xa4 b\n"};
  CHECK(output_of(clear) == "X=1=2\nY=\xc3\xa4 b\n\n");
  unsetenv("BERTH_INHERITED");
}

TEST_CASE("environment: ten thousand variables") {
  start_request request{{"/usr/bin/env"}, wire::start_clear_env};
  for (int i = 0; i < 10000; ++i) request.env.push_back("V" + std::to_string(i) + "=" + std::to_string(i));
  const std::string all = output_of(request);
  CHECK(std::count(all.begin(), all.end(), '\n') == 10000);
  CHECK(all.ends_with("V9999=9999\n"));
}

TEST_CASE("start: too few descriptors are a failed start, and nothing ran") {
  client c({.before_exec = [] {
    const rlimit few{40, 40};
    setrlimit(RLIMIT_NOFILE, &few);
  }});
  std::uint32_t started = 0;
  for (std::uint32_t id = 1; id <= 20; ++id) c.start(id, child({"stay"}, wire::start_input_pipe));
  for (std::uint32_t id = 1; id <= 20; ++id) {
    const auto f = c.next();
    REQUIRE(f);
    if (f->type() == frame_type::started) ++started;
    if (f->type() != frame_type::start_failed) continue;
    wire::start_failed failed;
    REQUIRE(failed.get(f->payload));
    CHECK(failed.step == start_step::resources);
    CHECK(failed.error == EMFILE);
  }
  CHECK(started > 3);
  CHECK(started < 15);
  // What it takes to end them is still there.
  c.send_number(frame_type::kill, 1, 0);
  c.expect_exit(1);
  c.expect(frame_type::tree_ended, 1);
  c.send(frame_type::bye, 0);
  c.wait_end();
  CHECK(tagged(c.nonce()).empty());
}

TEST_CASE("start: no more processes are a failed start") {
  const uid_t user = lone_user();
  if (geteuid() != 0) return skip("needs root, to become a user without processes");
  client c({.before_exec = [user] {
    const rlimit few{3, 3};
    setrlimit(RLIMIT_NPROC, &few);
    if (setgid(user) != 0 || setuid(user) != 0) _exit(125);
  }});
  c.run(1, shell("exec sleep 60"));
  c.run(2, shell("exec sleep 60"));
  c.start(3, shell("exec sleep 60"));
  const wire::start_failed f = c.expect_failure(3);
  CHECK(f.step == start_step::clone);
  CHECK(f.error == EAGAIN);
}
