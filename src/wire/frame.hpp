#pragma once
/// The frames that an owner and its resident exchange: a codec without I/O and without allocation, shared by both ends.
/// docs/resident.md describes every byte.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace berth::wire {

inline constexpr std::uint16_t version = 1;
inline constexpr std::uint32_t magic = 0x48545242;  // "BRTH"
inline constexpr std::size_t header_size = 12;
inline constexpr std::uint32_t max_payload = 8u << 20;       // a start with the largest argument list that Linux takes
inline constexpr std::uint32_t max_data = 64u << 10;         // bytes of a stream in one frame
inline constexpr std::uint32_t initial_credit = 256u << 10;  // bytes a stream may send before it is granted more
inline constexpr std::size_t token_size = 16;
inline constexpr std::uint8_t max_fds = 3;

enum class frame_type : std::uint8_t {
  // owner to resident
  hello = 1,
  start = 2,
  input = 3,
  input_end = 4,
  signal = 5,
  kill = 6,
  abandon = 7,
  ping = 8,
  bye = 9,
  resize = 10,
  ports = 11,
  // resident to owner
  welcome = 33,
  started = 34,
  start_failed = 35,
  output = 36,
  output_end = 37,
  input_closed = 38,
  exited = 39,
  tree_ended = 40,
  pong = 41,
  failed = 42,
  port_list = 43,
  // both
  credit = 65,
  ack = 66,
};

/// As substr(), which a program without exceptions cannot have.
inline std::string_view part(std::string_view of, std::size_t from,
                             std::size_t size = std::string_view::npos) noexcept {
  if (from > of.size()) from = of.size();
  return {of.data() + from, size < of.size() - from ? size : of.size() - from};
}

/// The fixed beginning of every frame, little-endian: payload size, type, descriptors attached, stream or flags, command.
struct header {
  std::uint32_t size = 0;
  frame_type type = frame_type::ping;
  std::uint8_t fds = 0;
  std::uint16_t stream = 0;
  std::uint32_t id = 0;
};

void put_header(const header& h, char (&out)[header_size]) noexcept;
/// False where the type, the size for this type or the number of descriptors cannot be.
bool get_header(const char (&in)[header_size], header& h) noexcept;

/// What an incoming byte stream begins with.
enum class parse_result { need_more, frame, broken };
/// Looks at the beginning of `in`: a whole frame leaves its header and payload; the frame is `header_size + h.size` bytes long.
parse_result parse(std::string_view in, header& h, std::string_view& payload) noexcept;

/// Writes fields to anything with append(const char*, size_t).
template <class Sink>
class writer {
 public:
  explicit writer(Sink& sink) : sink_(sink) {}
  writer& u8(std::uint8_t v) { return integer(v, 1); }
  writer& u16(std::uint16_t v) { return integer(v, 2); }
  writer& u32(std::uint32_t v) { return integer(v, 4); }
  writer& u64(std::uint64_t v) { return integer(v, 8); }
  /// Length, then the bytes.
  writer& bytes(std::string_view v) {
    u32(static_cast<std::uint32_t>(v.size()));
    return raw(v);
  }
  writer& raw(std::string_view v) {
    sink_.append(v.data(), v.size());
    return *this;
  }

 private:
  writer& integer(std::uint64_t v, int size) {
    char b[8];
    for (int i = 0; i < size; ++i) b[i] = static_cast<char>(v >> (8 * i));
    sink_.append(b, static_cast<std::size_t>(size));
    return *this;
  }
  Sink& sink_;
};

/// Reads fields; after the first that does not fit, everything reads as zero or empty and ok() is false.
class reader {
 public:
  explicit reader(std::string_view in) : in_(in) {}
  std::uint8_t u8() noexcept { return static_cast<std::uint8_t>(integer(1)); }
  std::uint16_t u16() noexcept { return static_cast<std::uint16_t>(integer(2)); }
  std::uint32_t u32() noexcept { return static_cast<std::uint32_t>(integer(4)); }
  std::uint64_t u64() noexcept { return integer(8); }
  std::string_view bytes() noexcept { return raw(u32()); }
  std::string_view raw(std::size_t size) noexcept {
    if (size > in_.size()) return fail();
    const std::string_view v(in_.data(), size);
    in_.remove_prefix(size);
    return v;
  }
  bool ok() const noexcept { return ok_; }
  /// Everything was read, and all of it fitted.
  bool done() const noexcept { return ok_ && in_.empty(); }

 private:
  std::uint64_t integer(std::size_t size) noexcept;
  std::string_view fail() noexcept {
    ok_ = false;
    in_ = {};
    return {};
  }
  std::string_view in_;
  bool ok_ = true;
};

}  // namespace berth::wire
