/// Pieces on standard input, and records on the outputs, however they are cut.
#include "wire/file_verbs.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace berth;

namespace {

using found = wire::piece_parser::found;

std::string piece(const std::string& bytes) {
  std::string all;
  wire::put_piece_header(all, bytes.size());
  return all + bytes;
}

/// What a stream says when it comes in two parts; "!" at the end mark.
std::string taken(const std::string& stream, std::size_t cut) {
  wire::piece_parser parser;
  std::string all;
  for (std::string_view part : {std::string_view(stream).substr(0, cut), std::string_view(stream).substr(cut)}) {
    for (;;) {
      std::string_view bytes;
      const found what = parser.next(part, bytes);
      if (what == found::bytes) all += bytes;
      if (what == found::end) return all + "!";
      if (what == found::need_more) break;
    }
  }
  return all;
}

}  // namespace

TEST_CASE("file verbs: pieces are joined, wherever they are cut, and end with their mark only") {
  const std::string stream = piece("a") + piece(std::string(300, 'b')) + piece("") + "behind";
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) CHECK(taken(stream, cut) == "a" + std::string(300, 'b') + "!");
  const std::string open = piece("abc");
  for (std::size_t cut = 0; cut <= open.size(); ++cut) CHECK(taken(open, cut) == "abc");
  CHECK(taken(open.substr(0, 5), 2) == "a");
}

TEST_CASE("file verbs: an entry comes back as it was; a record that is cut short is waited for") {
  wire::entry_fields entry;
  entry.kind = wire::entry_kind::symlink;
  entry.mode = 0777;
  entry.size = 1ull << 40;
  entry.seconds = -7;
  entry.nanoseconds = 999'999'999;
  entry.path = "a\nb";
  entry.target = "c";
  std::string all;
  wire::put_record_header(all, wire::record_type::entry, entry.encoded_size());
  entry.put(all);
  wire::record_type type{};
  std::string_view fields;
  for (std::size_t size = 0; size < all.size(); ++size)
    CHECK(wire::parse_record(std::string_view(all).substr(0, size), type, fields) == wire::parse_result::need_more);
  REQUIRE(wire::parse_record(all, type, fields) == wire::parse_result::frame);
  CHECK(type == wire::record_type::entry);
  wire::entry_fields back;
  REQUIRE(back.get(fields));
  CHECK(back.seconds == -7);
  CHECK(back.size == 1ull << 40);
  CHECK(back.path == "a\nb");
  CHECK(back.target == "c");
  for (std::size_t size = 0; size < fields.size(); ++size) CHECK_FALSE(back.get(fields.substr(0, size)));
  CHECK(wire::parse_record(std::string(5, '\xff'), type, fields) == wire::parse_result::broken);
}
