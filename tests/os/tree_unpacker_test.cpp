#include "os/tree_unpacker.hpp"

#include "os/tree_packer.hpp"
#include "support/tar_entries.hpp"
#include "support/temp_dir.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <utility>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

namespace {

template <class... Words>
std::string entry(char type, Words... words) {
  return tar_entry_of(type, words...);
}

std::string finished(std::string entries) { return finished_tar(std::move(entries)); }

struct unpacked {
  std::error_code code;
  transfer_progress progress;
};

unpacked unpack(const std::string& to, const std::string& tar, outside_links links = outside_links::keep,
                std::size_t piece = 100) {
  tree_unpacker work(whole_host(), to, links);
  unpacked result;
  try {
    for (std::size_t at = 0; at < tar.size(); at += piece) work.feed(tar.substr(at, piece));
    work.finish();
  } catch (const error& caught) {
    result.code = caught.code();
  }
  result.progress = work.progress();
  return result;
}

}  // namespace

TEST_CASE("unpack: names that lead out are refused") {
  const temp_dir at;
  for (const char* name : {"../evil", "/tmp/berth-evil", "a/../../evil", "..", "a/b/../../../evil"}) {
    const auto result = unpack(at / "to", finished(entry('0', name, "evil")));
    CHECK_MESSAGE(result.code == errc::protocol, name);
  }
  CHECK(unpack(at / "to", finished(entry('1', "hard", "", "../outside"))).code == errc::protocol);
  CHECK_FALSE(fs::exists(at / "evil"));
}

TEST_CASE("unpack: no link is gone through, whoever made it") {
  const temp_dir at;
  fs::create_directory(at / "outside");
  const auto tar = finished(entry('2', "link", "", "../outside") + entry('0', "link/evil", "evil"));
  CHECK(unpack(at / "to", tar).code == errc::not_a_directory);
  const auto deep = finished(entry('2', "link", "", "../outside") + entry('5', "link/d/e"));
  CHECK(unpack(at / "to", deep).code == errc::not_a_directory);
  const auto as_directory = finished(entry('2', "link", "", "../outside") + entry('5', "link/"));
  CHECK(unpack(at / "to", as_directory).code == errc::not_a_directory);
  CHECK(fs::is_empty(at / "outside"));
  // A file takes the place of a link; what the link meant stays.
  write_whole_file(at / "outside/f", "theirs");
  const auto over = finished(entry('2', "f", "", "../outside/f") + entry('0', "f", "mine"));
  CHECK(unpack(at / "to", over).code == std::error_code());
  CHECK(read_whole_file(at / "outside/f") == "theirs");
  CHECK(read_whole_file(at / "to/f") == "mine");
}

TEST_CASE("unpack: hard links stay within, and do not go through links") {
  const temp_dir at;
  write_whole_file(at / "secret", "secret");
  const auto fine = finished(entry('0', "a/f", "1") + entry('1', "b", "", "a/f") + entry('1', "b", "", "a/f"));
  CHECK(unpack(at / "to", fine).code == std::error_code());
  CHECK(fs::hard_link_count(at / "to/b") == 2);
  const auto through = finished(entry('2', "l", "", "..") + entry('1', "s", "", "l/secret"));
  CHECK(unpack(at / "to", through).code != std::error_code());
  CHECK_FALSE(fs::exists(at / "to/s"));
}

TEST_CASE("unpack: special files are left out and named, set-user-id bits are not set") {
  const temp_dir at;
  const auto result = unpack(at / "to", finished(entry('6', "fifo") + entry('3', "device") + entry('0', "f", "x")));
  CHECK(result.code == std::error_code());
  CHECK(result.progress.skipped() == std::vector<std::string>{"fifo", "device"});
  CHECK_FALSE(fs::exists(at / "to/fifo"));
}

TEST_CASE("unpack: a stream that breaks off is an error at every place") {
  const temp_dir at;
  const auto tar = finished(entry('0', "a", std::string(700, 'a')) + entry('5', "d") + entry('0', "d/b", "b"));
  for (std::size_t size = 0; size + 1024 <= tar.size(); size += 128) {
    const auto result = unpack(at / "to", tar.substr(0, size));
    CHECK_MESSAGE(result.code == errc::protocol, size);
  }
  CHECK(unpack(at / "to", tar, outside_links::keep, 1).code == std::error_code());
  CHECK(unpack(at / "to", "this is no tar").code == errc::protocol);
  CHECK(unpack(at / "empty", std::string(1024, '\0')).code == std::error_code());
  CHECK(fs::is_directory(at / "empty"));
}

TEST_CASE("unpack: dropped in the middle it leaves whole files only") {
  const temp_dir at;
  {
    tree_unpacker work(whole_host(), at / "to", outside_links::keep);
    work.feed(entry('0', "a", "a") + entry('0', "b", std::string(5000, 'b')).substr(0, 2000));
  }
  CHECK(read_whole_file(at / "to/a") == "a");
  CHECK(std::distance(fs::directory_iterator(at / "to"), fs::directory_iterator()) == 1);
}

TEST_CASE("unpack: names that are no UTF-8, and those in pax records, come as they are") {
  const temp_dir at;
  const auto record = std::string("17 path=d\xc3\xa9j\xc3\xa0vu\n");
  const auto pax = entry('x', "pax", std::to_string(record.size()) + record.substr(2)) + entry('0', "short", "1");
  CHECK(unpack(at / "to", finished(pax + entry('0', "bad\xff", "2"))).code == std::error_code());
  CHECK(read_whole_file(at / "to/d\xc3\xa9j\xc3\xa0vu") == "1");
  CHECK(read_whole_file(at / "to/bad\xff") == "2");
}

TEST_CASE("pack: long names, many files and their way back") {
  const temp_dir at;
  std::string deep = at / "from";
  for (int i = 0; i < 12; ++i) deep += "/" + std::string(60, static_cast<char>('a' + i));
  fs::create_directories(deep);
  write_whole_file(deep + "/" + std::string(200, 'n'), "deep");
  for (int i = 0; i < 300; ++i) write_whole_file(at / "from/" + std::to_string(i), std::to_string(i));
  fs::permissions(at / "from/7", static_cast<fs::perms>(0400));
  tree_packer packer(whole_host(), at / "from", {});
  tree_unpacker unpacker(whole_host(), at / "to", outside_links::skip);
  for (std::string piece = packer.next(); !piece.empty(); piece = packer.next()) unpacker.feed(std::move(piece));
  unpacker.finish();
  CHECK(packer.progress().entries() == 313);
  CHECK(unpacker.progress().entries() == 313);
  CHECK(std::system(("diff -r '" + (at / "from") + "' '" + (at / "to") + "'").c_str()) == 0);
}

TEST_CASE("links: which lead outside") {
  CHECK(leads_outside("a", "/etc/passwd"));
  CHECK(leads_outside("a", "../x"));
  CHECK(leads_outside("a/b", "../../x"));
  CHECK_FALSE(leads_outside("a/b", "../x"));
  CHECK_FALSE(leads_outside("a/b/c", "../../x"));
  CHECK_FALSE(leads_outside("a", "b/c"));
  CHECK(leads_outside("a", "b/../c"));
  CHECK(leads_outside("a", ""));
  CHECK(leads_outside("a", ".."));
}
