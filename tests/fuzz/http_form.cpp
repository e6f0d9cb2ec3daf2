// Forms: the same parts wherever the bytes are split. The first byte says where; the boundary is XX.
#include "http/form_parser.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace berth::http;
using event = form_parser::event;

/// The first piece, and those behind it.
struct pieces {
  std::size_t first;
  std::size_t others;
};

std::string read(std::string_view bytes, pieces sizes) {
  form_limits limits;
  limits.head = 200;
  limits.parts = 5;
  form_parser parser("multipart/form-data; boundary=XX", limits);
  std::string seen;
  std::size_t at = 0;
  try {
    for (;;) {
      const event found = parser.next();
      if (found == event::end) return seen + " end";
      if (found == event::body) seen += parser.take_body();
      if (found == event::part) seen += '[' + parser.name() + '|' + parser.filename().value_or("") + ']';
      if (found != event::need_more) continue;
      if (at == bytes.size()) parser.finish();
      const std::size_t piece = at == 0 ? sizes.first : sizes.others;
      parser.feed(bytes.substr(at, piece));
      at += std::min(piece, bytes.size() - at);
    }
  } catch (const berth::error& failed) {
    // How much of a part that is cut was given depends on the pieces.
    return failed.message();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t all = bytes.size() + 1;
  const std::size_t place = data[0];
  const std::string whole = read(bytes, {all, all});
  for (const pieces sizes : {pieces{1, 1}, pieces{place % 64 + 2, place % 64 + 2}, pieces{place * 2 + 1, all}}) {
    if (read(bytes, sizes) != whole) std::abort();
  }
  return 0;
}
