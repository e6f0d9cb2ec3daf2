// What goes between an owner and the resident's file verbs: pieces, records and patterns. The first byte says where the stream is cut.
#include "wire/file_verbs.hpp"
#include "wire/path_pattern.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace berth;

std::string pieces(std::string_view stream, std::size_t cut) {
  wire::piece_parser parser;
  std::string all;
  std::string_view part = stream.substr(0, cut);
  for (int turn = 0; turn < 2; ++turn, part = stream.substr(cut)) {
    for (;;) {
      std::string_view bytes;
      const auto found = parser.next(part, bytes);
      if (found == wire::piece_parser::found::end) return all + "!";
      if (found == wire::piece_parser::found::need_more) break;
      if (bytes.empty()) std::abort();
      all += bytes;
    }
  }
  return all;
}

void records(std::string_view stream) {
  wire::record_type type{};
  std::string_view fields;
  while (wire::parse_record(stream, type, fields) == wire::parse_result::frame) {
    wire::entry_fields entry;
    wire::file_failure_fields failure;
    std::string again;
    if (entry.get(fields)) {
      entry.put(again);
      if (again != fields || again.size() != entry.encoded_size()) std::abort();
    }
    again.clear();
    if (failure.get(fields)) {
      failure.put(again);
      if (again != fields || again.size() != failure.size()) std::abort();
    }
    stream.remove_prefix(wire::record_header + fields.size());
  }
}

void patterns(std::string_view pattern, std::string_view path) {
  wire::path_pattern one;
  if (!one.set(pattern)) return;
  std::string scratch(one.scratch_size(), '\0');
  (void)one.match(path, true, scratch.data());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t cut = data[0] % (bytes.size() + 1);
  if (pieces(bytes, cut) != pieces(bytes, 0)) std::abort();
  records(bytes);
  patterns(bytes.substr(0, cut), bytes.substr(cut));
  return 0;
}
