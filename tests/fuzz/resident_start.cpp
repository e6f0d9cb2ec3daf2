// A start frame, as the resident reads it: words, environment changes and PATH, laid out in one block of memory. The input is the
// payload, or (first byte below 128) edits of one that is whole: two bytes of where, one of what.
#include "resident/spawn.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace berth;

std::string whole_start(std::uint8_t kind) {
  wire::start s;
  if (kind % 2 == 0) s.flags = wire::start_clear_env;
  if (kind % 8 < 4) s.flags |= wire::start_terminal;
  s.cwd = "/tmp";
  s.cgroup = "/sys/fs/cgroup";
  s.argc = 3;
  s.envc = 5;
  s.limitc = 2;
  std::string bytes;
  s.put(bytes);
  wire::writer words(bytes);
  words.bytes(kind % 4 < 2 ? "sh" : "/bin/sh").bytes("-c").bytes("");
  words.bytes("A=1").bytes("PATH=/usr/bin::/bin:relative").bytes("A").bytes("=").bytes("HOME=/");
  wire::put_limit(bytes, wire::limit::cpu_time, 1);
  wire::put_limit(bytes, wire::limit::nice, 5);
  return bytes;
}

std::string payload_of(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] >= 128) return std::string(reinterpret_cast<const char*>(data), size);
  std::string payload = whole_start(data[0]);
  for (std::size_t at = 1; at + 3 <= size; at += 3)
    payload[(data[at] | data[at + 1] << 8) % payload.size()] = static_cast<char>(data[at + 2]);
  return payload;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string payload = payload_of(data, size);
  wire::reader fields(payload);
  wire::start request;
  if (!request.get(fields)) return 0;
  char home[] = "HOME=/tmp", path[] = "PATH=/bin", odd[] = "no equals sign";
  char* environment[] = {home, path, odd, nullptr};
  resident::launch* l = resident::launch::make(request, fields, environment);
  if (l != nullptr) resident::launch::destroy(l);
  return 0;
}
