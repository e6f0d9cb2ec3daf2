#include "wire/frame.hpp"

#include "wire/messages.hpp"

namespace berth::wire {
namespace {

struct size_range {
  std::uint32_t least;
  std::uint32_t most;
};

/// How large a payload of this type can be; nothing fits one that is not known.
size_range payload_size(frame_type type) noexcept {
  switch (type) {
    case frame_type::hello:
      return {hello::size, hello::size};
    case frame_type::welcome:
      return {welcome::size, welcome::size};
    case frame_type::start:
      return {start::least_size, max_payload};
    case frame_type::input:
    case frame_type::output:
      return {0, max_data};
    case frame_type::input_end:
    case frame_type::output_end:
    case frame_type::input_closed:
    case frame_type::abandon:
    case frame_type::bye:
    case frame_type::ports:
      return {0, 0};
    case frame_type::signal:
    case frame_type::resize:
    case frame_type::kill:
    case frame_type::started:
    case frame_type::ping:
    case frame_type::pong:
    case frame_type::credit:
    case frame_type::ack:
      return {8, 8};
    case frame_type::start_failed:
      return {12, 12};
    case frame_type::exited:
      return {32, 32};
    case frame_type::tree_ended:
    case frame_type::failed:
    case frame_type::port_list:
      return {4, max_payload};
  }
  return {1, 0};
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
  h.type = static_cast<frame_type>(r.u8());
  h.fds = r.u8();
  h.stream = r.u16();
  h.id = r.u32();
  const size_range fits = payload_size(h.type);
  return h.size >= fits.least && h.size <= fits.most && h.fds <= max_fds;
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
