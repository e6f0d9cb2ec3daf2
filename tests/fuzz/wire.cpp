// The codec: a stream taken apart into frames, and every message read out of each payload. The input is such a stream, or (first
// byte below 128) edits of one that is whole: two bytes of where, one of what.
#include "wire/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace berth;

void require(bool condition) {
  if (!condition) std::abort();
}

/// What was got and is put again must be the same bytes.
template <class Message>
void round_trip(std::string_view payload) {
  Message m;
  if (!m.get(payload)) return;
  std::string again;
  m.put(again);
  require(again == payload);
}

void read_start(std::string_view payload) {
  wire::reader r(payload);
  wire::start s;
  if (!s.get(r)) return;
  std::size_t size = s.cwd.size();
  for (std::uint64_t i = 0; i < std::uint64_t{s.argc} + s.envc && r.ok(); ++i) size += r.bytes().size();
  require(size <= payload.size());
}

void read_survivors(std::string_view payload) {
  wire::reader r(payload);
  std::uint64_t sum = 0;
  for (std::uint32_t left = r.u32(); left > 0 && r.ok(); --left) sum += r.u32() + r.bytes().size();
  require(!r.ok() || sum < ~std::uint64_t{0});
}

void read_everything(std::string_view payload) {
  round_trip<wire::hello>(payload);
  round_trip<wire::welcome>(payload);
  round_trip<wire::start_failed>(payload);
  round_trip<wire::resize>(payload);
  round_trip<wire::exited>(payload);
  std::uint64_t n = 0;
  require(wire::get_number(payload, n) == (payload.size() == 8));
  read_start(payload);
  read_survivors(payload);
}

void add(std::string& to, wire::frame_type type, std::string_view payload) {
  char head[wire::header_size];
  wire::put_header({static_cast<std::uint32_t>(payload.size()), type, 0, 1, 7}, head);
  to.append(head, sizeof head).append(payload);
}

template <class Message>
void add(std::string& to, wire::frame_type type, const Message& m) {
  std::string payload;
  m.put(payload);
  add(to, type, std::string_view(payload));
}

/// A frame of each kind.
std::string whole_stream() {
  std::string all;
  add(all, wire::frame_type::hello, wire::hello());
  add(all, wire::frame_type::welcome, wire::welcome());
  wire::start s;
  s.argc = 2;
  s.envc = 1;
  s.cwd = "/";
  std::string words;
  s.put(words);
  wire::writer(words).bytes("echo").bytes("").bytes("A=b");
  add(all, wire::frame_type::start, std::string_view(words));
  add(all, wire::frame_type::start_failed, wire::start_failed());
  add(all, wire::frame_type::exited, wire::exited());
  add(all, wire::frame_type::resize, wire::resize{80, 24});
  std::string survivors;
  wire::writer(survivors).u32(1);
  wire::put_survivor(survivors, 5, "sudo");
  add(all, wire::frame_type::tree_ended, std::string_view(survivors));
  add(all, wire::frame_type::kill, std::string_view("12345678"));
  add(all, wire::frame_type::output, std::string_view("some bytes"));
  add(all, wire::frame_type::bye, std::string_view());
  return all;
}

std::string stream_of(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] >= 128) return std::string(reinterpret_cast<const char*>(data), size);
  std::string stream = whole_stream();
  for (std::size_t at = 1; at + 3 <= size; at += 3)
    stream[(data[at] | data[at + 1] << 8) % stream.size()] = static_cast<char>(data[at + 2]);
  return stream;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string stream = stream_of(data, size);
  std::string_view in(stream);
  read_everything(in);
  wire::header h;
  std::string_view payload;
  while (wire::parse(in, h, payload) == wire::parse_result::frame) {
    require(h.size == payload.size() && h.size <= wire::max_payload && h.fds <= wire::max_fds);
    char head[wire::header_size];
    wire::put_header(h, head);
    require(std::string_view(head, sizeof head) == in.substr(0, sizeof head));
    read_everything(payload);
    in.remove_prefix(wire::header_size + payload.size());
  }
  return 0;
}
