// Responses: whatever the bytes are, and wherever they are split, they are read as the same, within the bounds. The first byte says the
// method and whether the stream ends, the second where it is split.
#include "http/http_error.hpp"
#include "http/response_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace berth::http;
using event = response_reader::event;

void require(bool condition) {
  if (!condition) std::abort();
}

/// What was read: heads, body and trailers as text, and how it ended.
struct reading {
  std::string text = {};
  std::string rest = {};
  bool ended = false;
  bool failed = false;
};

void take(response_reader& reader, event found, reading& into, std::size_t fed) {
  if (found == event::body) {
    const std::string piece = reader.take_body();
    require(!piece.empty() && piece.size() <= fed);
    into.text += piece;
  } else if (found != event::end) {
    into.text += std::to_string(reader.head().status) + reader.head().reason;
    for (const auto& each : reader.head().fields) {
      require(is_token(each.name) && each.value.find_first_of(std::string_view("\0\r\n", 3)) == std::string::npos);
      into.text += each.name + ':' + each.value;
    }
  }
}

/// The first piece, and those behind it.
struct pieces {
  std::size_t first;
  std::size_t others;
};

reading read(std::string_view method, std::string_view bytes, pieces sizes, bool ends) {
  response_reader reader(method);
  reading seen;
  std::size_t at = 0;
  bool told = false;
  try {
    for (;;) {
      const event found = reader.next();
      if (found == event::need_more && at < bytes.size()) {
        const std::size_t piece = at == 0 ? sizes.first : sizes.others;
        reader.feed(bytes.substr(at, piece));
        at += std::min(piece, bytes.size() - at);
      } else if (found == event::need_more && ends && !told) {
        reader.finish();
        told = true;
      } else if (found == event::need_more) {
        require(!told);
        return seen;
      } else {
        take(reader, found, seen, at);
      }
      if (found != event::end) continue;
      seen.ended = true;
      for (const auto& each : reader.trailers()) seen.text += each.name + '=' + each.value;
      seen.rest = reader.take_rest().append(bytes.substr(at));
      return seen;
    }
  } catch (const http_error&) {
    seen.failed = true;
    return seen;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static constexpr std::string_view methods[] = {"GET", "HEAD", "CONNECT", "POST"};
  const auto method = methods[data[0] % 4];
  const bool ends = data[0] >= 128;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t all = bytes.size() + 1;
  const std::size_t place = data[1];
  const reading whole = read(method, bytes, {all, all}, ends);
  for (const pieces sizes : {pieces{1, 1}, pieces{place % 64 + 2, place % 64 + 2}, pieces{place * 2 + 1, all}}) {
    const reading split = read(method, bytes, sizes, ends);
    // What makes no sense may be noticed later, once a line or head is there as a whole; never is more believed.
    if (whole.failed) {
      require(!split.ended && (split.failed || !ends) && whole.text.starts_with(split.text));
      continue;
    }
    require(split.text == whole.text && split.ended == whole.ended && split.rest == whole.rest && !split.failed);
  }
  return 0;
}
