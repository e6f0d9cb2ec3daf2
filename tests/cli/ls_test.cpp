/// berth ls, berth rm, berth mkdir.
#include "cli/file_lines.hpp"
#include "cli/program.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "support/temp_dir.hpp"

#include <unistd.h>

#include <filesystem>

using namespace berth;
using namespace berth::test;
using berth::cli::file_lines;
using berth::cli::line_style;

namespace {

const std::string odd_name = "odd\n\xff";

program_end ls(const temp_dir& at, words arguments) {
  arguments.insert(arguments.begin(), {"ls", "--cwd", at.path().string()});
  return berth_ends(arguments);
}

void make_tree(const temp_dir& at) {
  std::filesystem::create_directories(at.path() / "sub/deep");
  write_whole_file(at / ".hidden", "h");
  write_whole_file(at / "file", "12345");
  write_whole_file(at / "sub/inner", "");
  std::filesystem::create_symlink("file", at.path() / "link");
  std::filesystem::create_symlink("sub", at.path() / "to-sub");
}

}  // namespace

TEST_CASE("ls: names below a directory, sorted, at any depth") {
  nothing_left guard;
  const temp_dir at;
  make_tree(at);
  const auto done = ls(at, {});
  CHECK(done.code == 0);
  CHECK(done.out == ".hidden\nfile\nlink\nsub\nto-sub\n");
  CHECK(ls(at, {"sub"}).out == "deep\ninner\n");
  CHECK(ls(at, {"to-sub"}).out == "deep\ninner\n");
  const std::string all = ".hidden\nfile\nlink\nsub\nsub/deep\nsub/inner\nto-sub\n";
  CHECK(ls(at, {"--recursive"}).out == all);
  CHECK(ls(at, {"--depth", "2", "."}).out == all);
  CHECK(ls(at, {"sub/", "file"}).out == "sub/deep\nsub/inner\nfile\n");
  CHECK(ls(at, {"link"}).out == "link\n");
  CHECK(ls(at, {"sub/deep"}).out == "");
  CHECK(ls(at, {"sub/deep"}).code == 0);
}

TEST_CASE("ls: the long form") {
  const temp_dir at;
  make_tree(at);
  std::filesystem::permissions(at.path() / "file", std::filesystem::perms(0640));
  std::filesystem::permissions(at.path() / "sub", std::filesystem::perms(01755));
  CHECK(shell_ends("touch -d 2001-02-03T04:05:06Z '" + (at / "file") + "'").code == 0);
  const auto done = ls(at, {"-l"});
  CHECK(done.out.find("-rw-r----- 5 2001-02-03T04:05:06Z file\n") != std::string::npos);
  CHECK(done.out.find("drwxr-xr-t 0 ") != std::string::npos);
  CHECK(done.out.find(" link -> file\n") != std::string::npos);
  CHECK(count_lines(done.out) == 5);
}

TEST_CASE("ls: names that are no text are exact bytes, or escaped for a terminal") {
  nothing_left guard;
  const temp_dir at;
  write_whole_file(at / odd_name, "");
  CHECK(ls(at, {}).out == odd_name + "\n");
  CHECK(ls(at, {"-0"}).out == odd_name + std::string(1, '\0'));
  const json line = json::parse(ls(at, {"--json"}).out);
  CHECK(line.at("path").as_string() == "odd\n\xef\xbf\xbd");
  CHECK(base64_decode(line.at("path_base64").as_string()) == odd_name);
  if (::access("/usr/bin/script", X_OK) != 0) return;
  const auto shown = shell_ends("cd '" + at.path().string() +
                                "' && SHELL=/bin/sh BERTH=\"$0\" script -qec '\"$BERTH\" ls' /dev/null </dev/null");
  CHECK(shown.out.find("'odd\\n\\xff'\r\n") != std::string::npos);
}

TEST_CASE("ls: JSON lines") {
  const temp_dir at;
  make_tree(at);
  CHECK(shell_ends("touch -d 2001-02-03T04:05:06.5Z '" + (at / "file") + "'").code == 0);
  std::filesystem::permissions(at.path() / "file", std::filesystem::perms(0640));
  CHECK(ls(at, {"--json", "file"}).out ==
        R"({"path":"file","type":"file","size":5,"mode":"0640","modified":"2001-02-03T04:05:06.500000000Z"})"
        "\n");
  const json link = json::parse(ls(at, {"--json", "link"}).out);
  CHECK(link.at("type").as_string() == "link");
  CHECK(link.at("link_target").as_string() == "file");
  CHECK(link["path_base64"].is_null());
}

TEST_CASE("ls: lines are made of values") {
  file_info other("p\x1b", file_type::other);
  other.mode(07777);
  line_style style;
  style.for_terminal = true;
  const std::vector<file_info> entries(1, other);
  CHECK(file_lines(entries, "a/", style) == words{"'a/p\\x1b'\n"});
  style.long_form = true;
  CHECK(file_lines(entries, "", style) == words{"?rwsrwsrwt 0 1970-01-01T00:00:00Z 'p\\x1b'\n"});
  other.mode(07000);
  CHECK(cli::mode_text(other) == "?--S--S--T");
  CHECK(cli::time_text(file_info::time_point(std::chrono::seconds(-1))) == "1969-12-31T23:59:59Z");
}

TEST_CASE("ls: what is not there is told, and the others are listed") {
  const temp_dir at;
  make_tree(at);
  const auto done = ls(at, {"missing", "sub"});
  CHECK(done.code == 1);
  CHECK(done.out == "sub/deep\nsub/inner\n");
  CHECK(done.err.starts_with("berth: ls: "));
  CHECK(done.err.find("missing") != std::string::npos);
  CHECK(count_lines(done.err) == 1);
  std::filesystem::create_symlink("nowhere", at.path() / "broken");
  CHECK(ls(at, {"broken"}).out == "broken\n");
  for (const words& wrong : {words{"--depth", "0"}, words{"--json", "-l"}, words{"--depth", "2", "-R"}, words{"-x"}}) {
    CHECK(ls(at, wrong).code == 125);
  }
}

TEST_CASE("ls: a reader that goes away is quiet") {
  nothing_left guard;
  const temp_dir at;
  for (int i = 0; i < 3000; ++i) write_whole_file(at / (std::string(60, 'n') + std::to_string(i)), "");
  program berth({"ls", at.path().string()});
  REQUIRE(berth.prints("n"));
  berth.close_output();
  const auto done = berth.end();
  CHECK(done.code == 141);
  CHECK(done.err == "");
}

TEST_CASE("rm: files, links and empty directories; the rest only if asked") {
  nothing_left guard;
  const temp_dir at;
  make_tree(at);
  const std::string cwd = at.path().string();
  CHECK(berth_ends({"rm", "--cwd", cwd, "file", "to-sub", "sub/deep"}).code == 0);
  CHECK(ls(at, {"-R"}).out == ".hidden\nlink\nsub\nsub/inner\n");
  const auto full = berth_ends({"rm", "--cwd", cwd, "sub", "missing", ".hidden"});
  CHECK(full.code == 1);
  CHECK(count_lines(full.err) == 2);
  CHECK(ls(at, {"-R"}).out == "link\nsub\nsub/inner\n");
  CHECK(berth_ends({"rm", "-r", "--cwd", cwd, "sub"}).code == 0);
  CHECK(ls(at, {}).out == "link\n");
}

TEST_CASE("mkdir: with parents, again, and not in place of a file") {
  nothing_left guard;
  const temp_dir at;
  const std::string cwd = at.path().string();
  CHECK(berth_ends({"mkdir", "--cwd", cwd, "a/b", "a/b", "c"}).code == 0);
  CHECK(ls(at, {"-R"}).out == "a\na/b\nc\n");
  write_whole_file(at / "file", "");
  const auto done = berth_ends({"mkdir", "--cwd", cwd, "file", "file/x", "d"});
  CHECK(done.code == 1);
  CHECK(count_lines(done.err) == 2);
  CHECK(std::filesystem::is_directory(at / "d"));
}
