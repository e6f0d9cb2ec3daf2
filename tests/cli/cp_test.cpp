/// berth cp.
#include "cli/program.hpp"
#include "cli/transfer_report.hpp"
#include "support/proc_scan.hpp"
#include "support/temp_dir.hpp"

#include <sys/stat.h>

#include <csignal>
#include <filesystem>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

namespace {

struct copies {
  copies() {
    fs::create_directories(here.path() / "tree/node_modules/x");
    fs::create_directories(here.path() / "tree/empty");
    write_whole_file(here / "tree/main.py", "print()\n");
    write_whole_file(here / "tree/debug.log", "log");
    write_whole_file(here / "tree/node_modules/x/y", "y");
    write_whole_file(here / "tree/\xff", "odd");
    fs::permissions(here / "tree/main.py", fs::perms(0750));
    fs::create_symlink("main.py", here / "tree/link");
  }

  program_end cp(words arguments) const {
    arguments.insert(arguments.begin(), {"cp", "--cwd", place.path().string()});
    return berth_ends(arguments);
  }

  temp_dir here;
  temp_dir place;
};

std::string listing(const std::string& of) { return berth_ends({"ls", "-R", of}).out; }

}  // namespace

TEST_CASE("cp: a tree goes into the place, without what is excluded") {
  nothing_left guard;
  const copies with;
  const auto done = with.cp({with.here / "tree", ":app/src", "--exclude", "node_modules/", "--exclude=*.log"});
  CHECK(done.code == 0);
  CHECK(done.out + done.err == "");
  CHECK(listing(with.place / "app/src") == "empty\nlink\nmain.py\n\xff\n");
  CHECK(read_whole_file(with.place / "app/src/main.py") == "print()\n");
  CHECK((fs::status(with.place / "app/src/main.py").permissions() & fs::perms::all) == fs::perms(0750));
  CHECK(fs::read_symlink(with.place / "app/src/link") == "main.py");
}

TEST_CASE("cp: a tree comes out of the place, and what cannot come is named") {
  nothing_left guard;
  const copies with;
  CHECK(with.cp({with.here / "tree", ":."}).code == 0);
  fs::create_symlink("/etc", with.place / "outside");
  auto done = with.cp({":.", with.here / "out", "--exclude", "/node_modules"});
  CHECK(done.code == 0);
  CHECK(count_lines(done.err) == 1);
  CHECK(done.err.starts_with("berth: cp: left out 1"));
  CHECK(done.err.find("'outside'") != std::string::npos);
  CHECK(listing(with.here / "out") == "debug.log\nempty\nlink\nmain.py\n\xff\n");
  done = with.cp({":.", with.here / "all", "--outside-links"});
  CHECK(fs::read_symlink(with.here / "all/outside") == "/etc");
  CHECK(done.err.find("outside") == std::string::npos);
}

TEST_CASE("cp: what cannot go into the place is named") {
  const copies with;
  REQUIRE(::mkfifo((with.here / "tree/fifo").c_str(), 0600) == 0);
  const auto done = with.cp({with.here / "tree", ":x"});
  CHECK(done.code == 0);
  CHECK(count_lines(done.err) == 1);
  CHECK(done.err.find("'fifo'") != std::string::npos);
  CHECK_FALSE(fs::exists(with.place / "x/fifo"));
}

TEST_CASE("cp: a file becomes a file, both ways") {
  nothing_left guard;
  const copies with;
  CHECK(with.cp({with.here / "tree/main.py", ":deep/copy.py"}).code == 0);
  CHECK(with.cp({":deep/copy.py", with.here / "back.py"}).code == 0);
  CHECK(read_whole_file(with.here / "back.py") == "print()\n");
  CHECK((fs::status(with.here / "back.py").permissions() & fs::perms::all) == fs::perms(0750));
}

TEST_CASE("cp: progress is told where it is asked for") {
  const copies with;
  const auto done = with.cp({"--progress", with.here / "tree", ":x"});
  CHECK(done.code == 0);
  CHECK(done.err == "berth: cp: 8 entries, 15 bytes\n");
  CHECK(cli::progress_text(transfer_progress(1, 999)) == "1 entry, 999 bytes");
  CHECK(cli::progress_text(transfer_progress(2, 34'567'890)) == "2 entries, 34.6 MB");
}

TEST_CASE("cp: the summary names some of what was left out") {
  transfer_progress done;
  CHECK(cli::skipped_text(done) == "");
  for (int i = 0; i < 12; ++i) done.skip("s" + std::to_string(i));
  const auto text = cli::skipped_text(done);
  CHECK(text.starts_with("left out 12, "));
  CHECK(text.ends_with("'s9', ..."));
  for (int i = 0; i < 100; ++i) done.skip("s");
  CHECK(cli::skipped_text(done).starts_with("left out 100 or more, "));
}

TEST_CASE("cp: mistakes and failures are one line") {
  nothing_left guard;
  const copies with;
  for (const words& wrong : {words{"a"}, words{"a", "b"}, words{":a", ":b"}, words{"a", ":"}, words{"a", ":b", "c"},
                             words{"-x", "a", ":b"}}) {
    const auto done = with.cp(wrong);
    CHECK(done.code == 125);
    CHECK(count_lines(done.err) == 1);
  }
  for (const words& failing : {words{with.here / "missing", ":x"}, words{":missing", with.here / "x"},
                               words{with.here / "tree/main.py", ":."}}) {
    const auto done = with.cp(failing);
    CAPTURE(done.err);
    CHECK(done.code == 1);
    CHECK(count_lines(done.err) == 1);
    CHECK(done.err.starts_with("berth: cp: "));
  }
}

TEST_CASE("cp: control C ends it, and leaves whole files only") {
  nothing_left guard;
  const copies with;
  fs::create_directory(with.here / "many");
  const std::string bytes(1 << 20, 'm');
  for (int i = 0; i < 100; ++i) write_whole_file(with.here / ("many/" + std::to_string(i)), bytes);
  program berth({"cp", "--cwd", with.place.path().string(), with.here / "many", ":to"});
  CHECK(eventually([&] { return fs::exists(with.place / "to") && !fs::is_empty(with.place / "to"); }));
  berth.signal(SIGINT);
  CHECK(eventually([&] { return !is_alive(berth.pid()); }));
  const int code = berth.end().code;
  CHECK((code == -SIGINT || code == 0));  // on a fast machine it may be done
  for (const auto& each : fs::directory_iterator(with.place / "to")) {
    CHECK(each.file_size() == bytes.size());
  }
}
