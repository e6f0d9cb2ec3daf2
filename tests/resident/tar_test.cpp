/// The resident's own tar: what it writes, and what it makes of what others wrote.
#include "resident/tar.hpp"

#include "os/tree_unpacker.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

using namespace berth::resident;
using berth::test::temp_dir;

namespace fs = std::filesystem;

namespace {

/// Writes down what it hears; content as size and sum.
class listener final : public tar_sink {
 public:
  void begin(const tar_entry& entry) override {
    char line[80];
    std::snprintf(line, sizeof line, "%c %o %llu %d %lld.%u ", entry.what, entry.mode,
                  static_cast<unsigned long long>(entry.size), entry.has_time, static_cast<long long>(entry.seconds),
                  entry.nanoseconds);
    heard += line + std::string(entry.path) + " > " + entry.link;
  }
  void data(std::string_view bytes) override { content += bytes; }
  void end() override {
    heard += " [" + std::to_string(content.size()) + " " + std::to_string(std::hash<std::string>()(content)) + "]\n";
    content.clear();
  }

  std::string heard;
  std::string content;
};

struct reading {
  file_reason wrong = file_reason::none;
  std::string heard;
};

/// The pieces end at these places.
reading read_tar(const std::string& stream, const std::vector<std::size_t>& cuts) {
  listener to;
  tar_reader reader(to);
  reading result;
  std::size_t at = 0;
  for (const std::size_t cut : cuts) {
    if (result.wrong == file_reason::none) result.wrong = reader.feed({stream.data() + at, cut - at});
    at = cut;
  }
  if (result.wrong == file_reason::none) result.wrong = reader.feed({stream.data() + at, stream.size() - at});
  if (result.wrong == file_reason::none) result.wrong = reader.finish();
  result.heard = to.heard;
  return result;
}

reading read_tar(const std::string& stream) { return read_tar(stream, {}); }

std::string written(const tar_entry& entry, const std::string& content = "") {
  buffer out;
  put_tar_header(out, entry);
  std::string all(out.view());
  all += content;
  all.resize(all.size() + tar_padding(content.size()), '\0');
  return all;
}

/// The path must stay.
tar_entry named(const char* path, tar_entry::kind what = tar_entry::file) {
  tar_entry entry;
  entry.path = path;
  entry.what = what;
  entry.mode = 0644;
  return entry;
}

std::string file(const std::string& path, std::size_t size) {
  tar_entry entry = named(path.c_str());
  entry.size = size;
  entry.seconds = 1'000'000;
  std::string content(size, 'x');
  for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i % 251);
  return written(entry, content);
}

std::string link(const std::string& path, const std::string& target, tar_entry::kind what) {
  tar_entry entry = named(path.c_str(), what);
  entry.link = target.c_str();
  return written(entry);
}

const std::string tar_end(1024, '\0');

/// Everything that the writer can say.
std::string everything() {
  tar_entry old = named("old");
  old.seconds = -5;
  const std::string deep = std::string(90, 'd') + "/" + std::string(200, 'n');
  return file("empty", 0) + file("one", 1) + file("511", 511) + file("512", 512) + file("513", 513) +
         file("bad\xff", 3) + file(std::string(100, 'a'), 2) + file(std::string(101, 'b'), 2) + file(deep, 700) +
         written(named("d/", tar_entry::directory)) + link("l", "target", tar_entry::symlink) +
         link("long", std::string(300, 't'), tar_entry::symlink) + link("h", "one", tar_entry::hard_link) +
         written(old) + tar_end;
}

/// A header by hand, with a right sum.
std::string raw(char type, std::string content, void (*change)(std::string&) = nullptr) {
  tar_entry entry = named("name");
  entry.size = content.size();
  std::string block = written(entry).substr(0, tar_block);
  block[156] = type;
  if (change != nullptr) change(block);
  block.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  char digits[8];
  std::snprintf(digits, sizeof digits, "%06o", sum);
  block.replace(148, 7, std::string(digits, 7));
  content.resize((content.size() + 511) / 512 * 512, '\0');
  return block + content;
}

}  // namespace

TEST_CASE("tar: what was written is read, wherever the stream is cut") {
  const std::string stream = everything();
  const reading whole = read_tar(stream);
  CHECK(whole.wrong == file_reason::none);
  CHECK(whole.heard.find("0 644 513 1 1000000.0 513 >  [513 ") != std::string::npos);
  CHECK(whole.heard.find("5 644 0 1 0.0 d/ >  [0 ") != std::string::npos);
  CHECK(whole.heard.find(std::string(90, 'd') + "/" + std::string(200, 'n') + " >  [700 ") != std::string::npos);
  CHECK(whole.heard.find("long > " + std::string(300, 't') + " [0 ") != std::string::npos);
  CHECK(whole.heard.find("1 -5.0 old") != std::string::npos);
  bool same = true;
  for (std::size_t cut = 1; cut < stream.size(); ++cut) {
    const reading parts = read_tar(stream, {cut});
    same = same && parts.wrong == file_reason::none && parts.heard == whole.heard;
  }
  CHECK(same);
  std::vector<std::size_t> each(stream.size() - 1);
  for (std::size_t i = 0; i < each.size(); ++i) each[i] = i + 1;
  CHECK(read_tar(stream, each).heard == whole.heard);
}

TEST_CASE("tar: another program reads what was written") {
  const temp_dir at;
  berth::tree_unpacker unpacker(berth::whole_host(), at / "to", berth::outside_links::keep);
  unpacker.feed(everything());
  unpacker.finish();
  CHECK(unpacker.progress().entries() == 14);
  CHECK(fs::file_size(at / ("to/" + std::string(90, 'd') + "/" + std::string(200, 'n'))) == 700);
  CHECK(fs::read_symlink(at / "to/long") == std::string(300, 't'));
  CHECK(fs::exists(at / "to/bad\xff"));
}

TEST_CASE("tar: a stream that breaks off is noticed at every place") {
  const std::string stream = file("a", 700) + file("b", 3) + tar_end;
  bool noticed = true;
  for (std::size_t size = 0; size + 1024 < stream.size(); ++size) {
    const reading part = read_tar(stream.substr(0, size));
    noticed = noticed && part.wrong == file_reason::breaks_off;
  }
  CHECK(noticed);
  CHECK(read_tar(stream.substr(0, stream.size() - 512)).wrong == file_reason::none);
  CHECK(read_tar(tar_end).wrong == file_reason::none);
  CHECK(read_tar(tar_end + "x").wrong == file_reason::not_tar);
  CHECK(read_tar(std::string(512, 'x')).wrong == file_reason::not_tar);
}

TEST_CASE("tar: what others write") {
  const auto heard = [](const std::string& entries) { return read_tar(entries + tar_end).heard; };
  CHECK(heard(raw('L', "gnu/long/name") + raw('0', "x")).find("gnu/long/name >  [1 ") != std::string::npos);
  CHECK(heard(raw('K', "target") + raw('2', "")).find("name > target [0 ") != std::string::npos);
  CHECK(heard(raw('g', "15 path=global\n") + raw('0', "")).find(" name > ") != std::string::npos);
  CHECK(heard(raw('x', "13 path=seen\n") + raw('0', "") + raw('0', "")).find(" seen > ") != std::string::npos);
  CHECK(heard(raw('x', "20 mtime=-1.5 \n")).empty());
  CHECK(heard(raw('x', "15 mtime=12.25\n") + raw('0', "")).find(" 1 12.250000000 ") != std::string::npos);
  CHECK(heard(raw('x', "14 mtime=-1.5\n") + raw('0', "")).find(" 1 -2.500000000 ") != std::string::npos);
  CHECK(heard(raw('x', "9 size=2\n") + raw('0', "ab")).find("0 644 2 ") == 0);
  CHECK(heard(raw('6', "") + raw('3', "")).find("6 644") == 0);
  const auto prefix = [](std::string& block) { block.replace(345, 3, "pre"); };
  CHECK(heard(raw('0', "", prefix)).find(" pre/name > ") != std::string::npos);
  const auto binary = [](std::string& block) { block.replace(124, 12, std::string("\x80\0\0\0\0\0\0\0\0\0\0\1", 12)); };
  CHECK(heard(raw('0', "z", binary)).find("0 644 1 ") == 0);
  const auto directory = [](std::string& block) { block[4] = '/'; };
  CHECK(heard(raw('0', "", directory)).find("5 644") == 0);
}

TEST_CASE("tar: what cannot be is refused") {
  const auto wrong = [](const std::string& entries) { return read_tar(entries + tar_end).wrong; };
  for (const char* records : {"x", "9 path=ab", "99 path=a\n", "3 \n", "0 a=b\n", "11 pathname\n", "-1 a=b\n",
                              "9999999999999999999999 a=b\n", "12 size=abc\n", "8 a=b\nzz", "14 mtime=1.2.3\n"}) {
    CHECK_MESSAGE(wrong(raw('x', records) + raw('0', "")) == file_reason::not_tar, records);
  }
  CHECK(wrong(raw('x', std::string("12 path=a\0b\n", 12)) + raw('0', "")) == file_reason::not_tar);
  CHECK(wrong(raw('x', "22 GNU.sparse.major=1\n") + raw('0', "")) == file_reason::unknown_tar);
  CHECK(wrong(raw('S', "")) == file_reason::unknown_tar);
  const auto huge = [](std::string& block) { block.replace(124, 11, "77777777777"); };
  CHECK(wrong(raw('x', "", huge)) == file_reason::not_tar);
  const auto negative = [](std::string& block) { block.replace(124, 12, 12, '\xff'); };
  CHECK(wrong(raw('0', "", negative)) == file_reason::not_tar);
  const auto overflows = [](std::string& block) {
    block.replace(124, 12, "\xbf\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
  };
  CHECK(wrong(raw('0', "", overflows)) == file_reason::not_tar);
  std::string changed = file("a", 1);
  changed[3] = 'q';
  CHECK(wrong(changed) == file_reason::not_tar);
}
