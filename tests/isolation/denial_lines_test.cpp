#include "isolation/denial_lines.hpp"

#include <doctest/doctest.h>

using namespace berth;

namespace {

std::string kept_of(std::string_view text, std::size_t piece = 7) {
  denial_lines lines;
  for (std::size_t at = 0; at < text.size(); at += piece) lines.add(text.substr(at, piece));
  return lines.take();
}

std::string refused(int number) { return "ls: '/d" + std::to_string(number) + "': Permission denied\n"; }

}  // namespace

TEST_CASE("denial lines: only what may tell of a denial is kept, however the output is cut") {
  const std::string text =
      "one\ntouch: '/etc/x': Read-only file system\ntwo\n\ncat: /tmp/x: No such file or directory\r\nlast";
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    CHECK(kept_of(text, piece) == "touch: '/etc/x': Read-only file system\ncat: /tmp/x: No such file or directory\r\n");
  }
}

TEST_CASE("denial lines: a last line without an end counts, and colours do not") {
  CHECK(kept_of("x\nerror: EROFS: read-only file system, open '/etc/x'") ==
        "error: EROFS: read-only file system, open '/etc/x'\n");
  CHECK(kept_of("\x1b[1m\x1b[31mtouch: '/etc/x'\x1b[0m: Read-only file system\x1b[0m\r\n") ==
        "touch: '/etc/x': Read-only file system\r\n");
  CHECK(kept_of("") == "");
}

TEST_CASE("denial lines: of long lines the end is looked at") {
  const std::string long_path = "/etc/" + std::string(4000, 'd');
  const std::string line = "touch: '" + long_path + "': Read-only file system\n";
  CHECK(kept_of(line, 1000) == line);
  const std::string end = "': Read-only file system\n";
  const std::string kept = kept_of(std::string(1 << 20, 'x') + end, 65536);
  CHECK(kept.size() < 8192);
  CHECK(kept.ends_with(end));
}

TEST_CASE("denial lines: what lies further back than the last 64 KiB is forgotten") {
  const std::string early = "touch: '/etc/early': Read-only file system\n";
  CHECK(kept_of(early + std::string(65500, '.'), 4096) == early);
  CHECK(kept_of(early + std::string(65536, '.'), 4096) == "");
}

TEST_CASE("denial lines: a read-only file system is not given up for a thousand ordinary refusals") {
  std::string text = "touch: '/etc/x': Read-only file system\n";
  for (int i = 0; i < 1000; ++i) text += refused(i);
  const std::string kept = kept_of(text, 4096);
  CHECK(kept.starts_with("touch: '/etc/x'"));
  CHECK(kept.ends_with(refused(999)));
  CHECK(kept.size() < 4096);
}

TEST_CASE("denial lines: what failed is kept for the reason on another line") {
  const std::string text = "error: failed to create directory `/etc/cc`\n  Read-only file system (os error 30)\n";
  CHECK(kept_of("one\n" + text + "failed to agree\n") == text);
}
