#pragma once
/// What the frames say: one struct per payload, with put and get. Views point into the frame they were read from.

#include "wire/frame.hpp"

namespace berth::wire {

/// Streams of a command, as in header::stream.
enum class stream : std::uint16_t { in = 0, out = 1, err = 2 };

/// First frame of an owner. The token marks the place where a new connection begins (see lease_ms) and is repeated in the
/// welcome.
struct hello {
  static constexpr std::uint32_t size = 40;  ///< the token at the end

  std::uint32_t magic = wire::magic;
  std::uint16_t version = wire::version;
  std::uint16_t flags = 0;
  std::uint32_t lease_ms = 0;  ///< 0: the end of the stream is the owner's death; else how long silence is borne
  std::uint32_t attempt = 0;   ///< repeated in the welcome, so that a late one is not taken for it
  std::uint64_t received = 0;  ///< bytes of the resident's frames that this owner has already had (re-attach)
  char token[token_size] = {};

  template <class Sink>
  void put(Sink& to) const {
    writer(to).u32(magic).u16(version).u16(flags).u32(lease_ms).u32(attempt).u64(received).raw({token, token_size});
  }
  bool get(std::string_view in) noexcept {
    reader r(in);
    magic = r.u32();
    version = r.u16();
    flags = r.u16();
    lease_ms = r.u32();
    attempt = r.u32();
    received = r.u64();
    const std::string_view t = r.raw(token_size);
    if (r.done()) std::memcpy(token, t.data(), token_size);
    return r.done() && magic == wire::magic;
  }
};

/// The owner's own pidfd comes with the hello (1 descriptor).
inline constexpr std::uint16_t hello_has_owner_pidfd = 1;

struct welcome {
  static constexpr std::uint32_t size = 42;  ///< the token at the end

  std::uint32_t magic = wire::magic;
  std::uint16_t version = wire::version;
  std::uint32_t pid = 0;
  std::uint32_t nonce = 0;  ///< upper half of the tag (RLIMIT_LOCKS) of all that this resident starts
  std::uint32_t attempt = 0;
  std::uint64_t received = 0;  ///< bytes of the owner's frames that the resident has had
  char token[token_size] = {};

  template <class Sink>
  void put(Sink& to) const {
    writer(to).u32(magic).u16(version).u32(pid).u32(nonce).u32(attempt).u64(received).raw({token, token_size});
  }
  bool get(std::string_view in) noexcept {
    reader r(in);
    magic = r.u32();
    version = r.u16();
    pid = r.u32();
    nonce = r.u32();
    attempt = r.u32();
    received = r.u64();
    const std::string_view t = r.raw(token_size);
    if (r.done()) std::memcpy(token, t.data(), token_size);
    return r.done() && magic == wire::magic;
  }
};

enum start_flag : std::uint32_t {
  start_hand_over = 1,   ///< the pipes go to the owner with `started`; else their bytes travel as frames
  start_input_pipe = 2,  ///< else /dev/null
  start_merge_stderr = 4,
  start_end_leftovers = 8,  ///< when the first process exits, end the rest of the tree
  start_clear_env = 16,     ///< begin with no variable at all
  start_terminal = 32,      ///< a terminal in place of the pipes; TERM is set where the environment has none
};

/// Kernel limits of a command, each with a number: bytes, seconds, a count, or what is added to the niceness (two's complement).
enum class limit : std::uint32_t { memory = 1, cpu_time = 2, file_size = 3, processes = 4, open_files = 5, nice = 6 };

/// Followed by the words, the environment changes and the limits: `argc` strings, then `envc` strings, "NAME=VALUE" to set and "NAME"
/// to unset, then `limitc` pairs of kind and number (put_limit).
struct start {
  static constexpr std::uint32_t least_size = 56;  ///< without any text

  std::uint32_t flags = 0;
  std::uint32_t grace_ms = 2000;
  std::uint32_t credit = initial_credit;  ///< for each output stream, where frames carry it
  std::uint32_t columns = 0;              ///< of the terminal
  std::uint32_t rows = 0;
  std::string_view cwd;
  std::string_view cgroup;             ///< a cgroup2 directory: the command gets one of its own below it; empty: none
  std::uint64_t cgroup_memory = 0;     ///< bytes of all its processes together; 0: not limited
  std::uint64_t cgroup_processes = 0;  ///< how many there may be; 0: not limited
  std::uint32_t argc = 0;
  std::uint32_t envc = 0;
  std::uint32_t limitc = 0;

  template <class Sink>
  void put(Sink& to) const {
    writer(to).u32(flags).u32(grace_ms).u32(credit).u32(columns).u32(rows).bytes(cwd);
    writer(to).bytes(cgroup).u64(cgroup_memory).u64(cgroup_processes).u32(argc).u32(envc).u32(limitc);
  }
  /// Leaves `r` before the first word.
  bool get(reader& r) noexcept {
    flags = r.u32();
    grace_ms = r.u32();
    credit = r.u32();
    columns = r.u32();
    rows = r.u32();
    cwd = r.bytes();
    cgroup = r.bytes();
    cgroup_memory = r.u64();
    cgroup_processes = r.u64();
    argc = r.u32();
    envc = r.u32();
    limitc = r.u32();
    return r.ok() && argc > 0;
  }
};

template <class Sink>
void put_limit(Sink& to, limit kind, std::uint64_t number) {
  writer(to).u32(static_cast<std::uint32_t>(kind)).u64(number);
}

enum class start_step : std::uint32_t {
  request = 1,
  resources = 2,
  clone = 3,
  session = 4,
  limits = 5,
  streams = 6,
  cwd = 7,
  exec = 8,
  terminal = 9,
  cgroup = 10,
};

/// Of a terminal.
struct resize {
  static constexpr std::uint32_t largest = 65535;

  std::uint32_t columns = 0;
  std::uint32_t rows = 0;

  template <class Sink>
  void put(Sink& to) const {
    writer(to).u32(columns).u32(rows);
  }
  bool get(std::string_view in) noexcept {
    reader r(in);
    columns = r.u32();
    rows = r.u32();
    return r.done() && fits();
  }
  bool fits() const noexcept { return columns <= largest && rows <= largest; }
};

struct start_failed {
  start_step step = start_step::request;
  std::uint32_t error = 0;   ///< errno
  std::uint32_t detail = 0;  ///< at step limits: which

  template <class Sink>
  void put(Sink& to) const {
    writer(to).u32(static_cast<std::uint32_t>(step)).u32(error).u32(detail);
  }
  bool get(std::string_view in) noexcept {
    reader r(in);
    step = static_cast<start_step>(r.u32());
    error = r.u32();
    detail = r.u32();
    return r.done();
  }
};

/// What the limits of a command's cgroup did while its first process lived.
enum cgroup_event : std::uint32_t {
  cgroup_oom_kill = 1,      ///< the kernel killed processes for want of memory
  cgroup_fork_refused = 2,  ///< a process more was refused
};

/// `exited`: how the first process ended (as wait(2) has it) and what it used.
struct exited {
  std::uint32_t wait_status = 0;
  std::uint64_t user_us = 0;
  std::uint64_t system_us = 0;
  std::uint64_t max_rss_bytes = 0;
  std::uint32_t cgroup_events = 0;

  template <class Sink>
  void put(Sink& to) const {
    writer(to).u32(wait_status).u64(user_us).u64(system_us).u64(max_rss_bytes).u32(cgroup_events);
  }
  bool get(std::string_view in) noexcept {
    reader r(in);
    wait_status = r.u32();
    user_us = r.u64();
    system_us = r.u64();
    max_rss_bytes = r.u64();
    cgroup_events = r.u32();
    return r.done();
  }
};

/// started, signal, kill, credit, ack and ping carry one number: pid, signal, grace in ms, bytes, offset, anything.
template <class Sink>
void put_number(Sink& to, std::uint64_t n) {
  writer(to).u64(n);
}
inline bool get_number(std::string_view in, std::uint64_t& n) noexcept {
  reader r(in);
  n = r.u64();
  return r.done();
}

/// `tree_ended`: a count, then that many survivors: pid and name. (`port_list`: a count, then that many u16.)
template <class Sink>
void put_survivor(Sink& to, std::uint32_t pid, std::string_view name) {
  writer(to).u32(pid).bytes(name);
}

}  // namespace berth::wire
