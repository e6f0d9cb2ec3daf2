#include "wire/frame.hpp"

namespace berth::wire {
namespace {

bool is_known(std::uint8_t type) noexcept {
  return (type >= 1 && type <= 9) || (type >= 33 && type <= 42) || type == 65 || type == 66;
}

}  // namespace

std::uint64_t reader::integer(std::size_t size) noexcept {
  const std::string_view v = raw(size);
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < v.size(); ++i) n |= std::uint64_t{static_cast<unsigned char>(v[i])} << (8 * i);
  return n;
}

void put_header(const header& h, char (&out)[header_size]) noexcept {
  struct sink {
    char* at;
    void append(const char* data, std::size_t size) {
      std::memcpy(at, data, size);
      at += size;
    }
  } to{out};
  writer(to).u32(h.size).u8(static_cast<std::uint8_t>(h.type)).u8(h.fds).u16(h.stream).u32(h.id);
}

bool get_header(const char (&in)[header_size], header& h) noexcept {
  reader r(std::string_view(in, header_size));
  h.size = r.u32();
  const std::uint8_t type = r.u8();
  h.type = static_cast<frame_type>(type);
  h.fds = r.u8();
  h.stream = r.u16();
  h.id = r.u32();
  return h.size <= max_payload && h.fds <= max_fds && is_known(type);
}

parse_result parse(std::string_view in, header& h, std::string_view& payload) noexcept {
  if (in.size() < header_size) return parse_result::need_more;
  char raw[header_size];
  std::memcpy(raw, in.data(), header_size);
  if (!get_header(raw, h)) return parse_result::broken;
  if (in.size() - header_size < h.size) return parse_result::need_more;
  payload = std::string_view(in.data() + header_size, h.size);
  return parse_result::frame;
}

}  // namespace berth::wire
