/// berth read, berth write.
#include "cli/program.hpp"
#include "support/proc_scan.hpp"
#include "support/temp_dir.hpp"

#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <thread>

using namespace berth::test;
using namespace std::chrono_literals;

namespace {

const std::string all_bytes = [] {
  std::string text;
  for (int i = 0; i < 256; ++i) text += static_cast<char>(i);
  return text;
}();

/// Names in a directory, hidden ones too.
words names_in(const temp_dir& directory) {
  words names;
  for (const auto& each : std::filesystem::directory_iterator(directory.path())) {
    names.push_back(each.path().filename().string());
  }
  return names;
}

/// One line, of this word, that names this.
void check_refusal(const program_end& done, const std::string& word, const std::string& what, int code = 1) {
  CAPTURE(done.err);
  CHECK(done.code == code);
  CHECK(count_lines(done.err) == 1);
  CHECK(done.err.starts_with("berth: " + word + ": "));
  CHECK(done.err.find(what) != std::string::npos);
}

}  // namespace

TEST_CASE("write and read: every byte is kept, and parents are made") {
  nothing_left guard;
  const temp_dir directory;
  const std::string cwd = directory.path().string();
  const auto written = berth_ends({"write", "a/b/file", "--cwd", cwd}, all_bytes);
  CHECK(written.code == 0);
  CHECK(written.out + written.err == "");
  CHECK(read_whole_file(directory / "a/b/file") == all_bytes);
  CHECK(berth_ends({"read", "--cwd", cwd, "a/b/file"}).out == all_bytes);
  CHECK(berth_ends({"read", directory / "a/b/file", directory / "a/b/file"}).out == all_bytes + all_bytes);
  CHECK(berth_ends({"read", "--offset", "254", "--cwd=" + cwd, "a/b/file"}).out == "\xfe\xff");
  CHECK(berth_ends({"read", "--cwd", cwd, "a/b/file", "--offset", "65", "--limit=3"}).out == "ABC");
  CHECK(berth_ends({"read", "--offset", "1000", directory / "a/b/file"}).out == "");
}

TEST_CASE("write and read: 200 MiB go through in bounded memory") {
  nothing_left guard;
  const temp_dir directory;
  std::string text = "cd '" + directory.path().string() + "'; yes 0123456789abcdef | head -c 209715200 >a; ";
#ifndef __SANITIZE_ADDRESS__  // which keeps what was freed
  text += "ulimit -d 65536; ";
#endif
  auto run =
      program::shell(text + "\"$0\" write b <a && cat b | \"$0\" write c && \"$0\" read c | cmp - a && echo same");
  const auto done = run.end(120s);
  CHECK(done.err == "");
  CHECK(done.out == "same\n");
}

TEST_CASE("read: what cannot be read is told, and the others are read") {
  nothing_left guard;
  const temp_dir directory;
  write_whole_file(directory / "file", "text");
  const auto done = berth_ends({"read", directory / "missing", directory / "file"});
  check_refusal(done, "read", "missing");
  CHECK(done.out == "text");
  check_refusal(berth_ends({"read", directory.path().string()}), "read", "directory");
  check_refusal(berth_ends({"read", directory / "file/below"}), "read", "ot a directory");
  check_refusal(berth_ends({"read", ""}), "read", "empty");
  check_refusal(berth_ends({"read"}), "read", "no path", 125);
  check_refusal(berth_ends({"read", "--nonsense", "x"}), "read", "--nonsense", 125);
  check_refusal(berth_ends({"read", "--offset", "1k", "x"}), "read", "--offset", 125);
  check_refusal(berth_ends({"read", "--cwd", directory / "missing", "x"}), "read", "--cwd", 125);
}

TEST_CASE("read: no right to a file is told") {
  const temp_dir directory;
  write_whole_file(directory / "secret", "s");
  std::filesystem::permissions(directory / "secret", std::filesystem::perms::none);
  const bool is_root = ::access((directory / "secret").c_str(), R_OK) == 0;
  const auto done = is_root ? berth_ends({"rm", "/proc/version"}) : berth_ends({"read", directory / "secret"});
  check_refusal(done, is_root ? "rm" : "read", "ermi");
}

TEST_CASE("read: a name that begins with a dash stands behind --") {
  const temp_dir directory;
  write_whole_file(directory / "-x", "dash");
  CHECK(berth_ends({"read", "--cwd", directory.path().string(), "--", "-x"}).out == "dash");
}

TEST_CASE("read: a reader that goes away is quiet, and the code of SIGPIPE") {
  nothing_left guard;
  const temp_dir directory;
  write_whole_file(directory / "large", std::string(4 << 20, 'x'));
  program berth({"read", directory / "large"});
  REQUIRE(berth.prints("x"));
  berth.close_output();
  const auto done = berth.end();
  CHECK(done.code == 141);
  CHECK(done.err == "");
  const auto full = shell_ends("\"$0\" read '" + directory / "large" + "' >/dev/full");
  check_refusal(full, "read", "output: ", 125);
}

TEST_CASE("read: control C ends it, also while its reader is stuck") {
  nothing_left guard;
  const temp_dir directory;
  write_whole_file(directory / "large", std::string(4 << 20, 'x'));
  program berth({"read", directory / "large"});
  REQUIRE(berth.prints("x"));
  std::this_thread::sleep_for(100ms);  // until the pipe is full
  berth.signal(SIGINT);
  CHECK(eventually([&] { return !is_alive(berth.pid()); }));
  const auto done = berth.end();
  CHECK(done.code == -SIGINT);
  CHECK(done.err == "");
}

TEST_CASE("write: a signal in the middle leaves the old file and nothing else") {
  nothing_left guard;
  for (const int signo : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
    CAPTURE(signo);
    const temp_dir directory;
    write_whole_file(directory / "file", "old");
    program berth({"write", directory / "file"});
    berth.write(std::string(3 << 20, 'n'));  // has returned once most of it was read
    berth.signal(signo);
    CHECK(eventually([&] { return !is_alive(berth.pid()); }));
    const auto done = berth.end();
    CHECK(done.code == -signo);
    CHECK(done.err == "");
    CHECK(read_whole_file(directory / "file") == "old");
    // Where the file system has no nameless files, a killed writer leaves its name.
    if (signo != SIGKILL) CHECK(names_in(directory) == words{"file"});
  }
}

TEST_CASE("write: a signal that is ignored when we start stays so") {
  nothing_left guard;
  const temp_dir directory;
  auto berth = program::shell("trap '' HUP; exec \"$0\" write '" + directory / "file" + "'");
  berth.write(std::string(3 << 20, 'n'));
  berth.signal(SIGHUP);
  CHECK(berth.end().code == 0);
  CHECK(read_whole_file(directory / "file").size() == 3 << 20);
}

TEST_CASE("write: modes, new files, missing parents, hashes") {
  nothing_left guard;
  const temp_dir directory;
  const std::string file = directory / "file";
  CHECK(berth_ends({"write", "--mode", "0640", file}, "one").code == 0);
  CHECK((std::filesystem::status(file).permissions() & std::filesystem::perms::all) == std::filesystem::perms(0640));
  CHECK(berth_ends({"write", file}, "two").code == 0);
  CHECK((std::filesystem::status(file).permissions() & std::filesystem::perms::all) == std::filesystem::perms(0640));
  check_refusal(berth_ends({"write", "--new", file}, "three"), "write", "file");
  check_refusal(berth_ends({"write", "--no-parents", directory / "a/b"}, "x"), "write", "a/b");
  const std::string hash = berth_ends({"read", "--hash", file}).out;
  CHECK(hash.size() == 38);
  CHECK(berth_ends({"write", file, "--durable", "--expect-hash", hash.substr(0, 37)}, "four").code == 0);
  check_refusal(berth_ends({"write", file, "--expect-hash", hash.substr(0, 37)}, "five"), "write", "file");
  CHECK(read_whole_file(file) == "four");
  check_refusal(berth_ends({"write", directory.path().string()}, "x"), "write", "directory");
  CHECK(names_in(directory) == words{"file"});
}

TEST_CASE("write: mistakes in its arguments change nothing") {
  const temp_dir directory;
  const std::string file = directory / "file";
  check_refusal(berth_ends({"write", "--mode", "888", file}, "x"), "write", "--mode", 125);
  check_refusal(berth_ends({"write", "--mode", "7777", file}, "x"), "write", "--mode", 125);
  check_refusal(berth_ends({"write", "--expect-hash", "abc", file}, "x"), "write", "hash", 125);
  check_refusal(berth_ends({"write", file, file}, "x"), "write", "one file", 125);
  check_refusal(berth_ends({"write"}, "x"), "write", "no path", 125);
  CHECK(names_in(directory).empty());
}

TEST_CASE("write: input that cannot be read leaves the old file") {
  const temp_dir directory;
  write_whole_file(directory / "file", "old");
  const auto done = shell_ends("\"$0\" write '" + directory / "file" + "' </");
  check_refusal(done, "write", "standard input");
  CHECK(read_whole_file(directory / "file") == "old");
}
