#pragma once
/// One command of the resident, and its framed streams.

#include "resident/channel.hpp"
#include "resident/loop.hpp"
#include "resident/spawn.hpp"
#include "resident/tree.hpp"

namespace berth::resident {

class session;

/// How far the ending of a tree has come.
enum class ending { none, asked, killing };

struct command {
  command* next = nullptr;
  command* prev = nullptr;
  session* owner = nullptr;
  std::uint32_t id = 0;
  std::uint32_t flags = 0;
  std::uint32_t grace_ms = 0;
  membership who;
  std::uint64_t oom_kills = 0;  ///< that the kernel had counted when it began

  launch* starting = nullptr;  ///< until exec has happened or failed
  source report;
  std::uint32_t failed_step = 0;
  int failed_error = 0;
  std::uint32_t failed_detail = 0;
  int handed[wire::max_fds] = {-1, -1, -1};  ///< the owner's ends, until they are sent
  std::uint8_t handed_count = 0;
  /// The command's end of its terminal, held until its first process ended: else one that has closed its own, and opens /dev/tty
  /// later, would be taken for ended.
  int slave = -1;

  ending end = ending::none;
  std::int64_t next_step = 0;  ///< when the ending goes on
  std::int64_t kill_at = 0;    ///< when the grace is over
  std::int64_t pause_ms = 0;
  int passes = 0;
  int quiet_passes = 0;
  bool exited = false;
  bool is_beyond_us = false;  ///< its first process belongs to another user

  // Framed streams; a closed source has fd -1.
  source in;
  source out[2];
  std::uint64_t credit[2] = {0, 0};
  buffer input;
  bool input_ends = false;
  bool discards = false;

  bool has_terminal() const { return (flags & wire::start_terminal) != 0; }
  bool has_streams() const { return out[0].fd >= 0 || out[1].fd >= 0; }
};

/// A pipe that nobody reads any more and something still writes to.
struct drain {
  drain* next = nullptr;
  drain* prev = nullptr;
  session* owner = nullptr;
  source from;
};

}  // namespace berth::resident
