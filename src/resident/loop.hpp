#pragma once
/// The poll loop: descriptors with a function each, over epoll.

#include <sys/epoll.h>

#include <cstdint>

namespace berth::resident {

/// Something with a descriptor that the loop watches. Lives as long as its owner keeps it watched.
struct source {
  int fd = -1;
  std::uint32_t watched = 0;  ///< epoll events now registered; 0 is not at all
  void (*ready)(source& self, std::uint32_t events) = nullptr;
  void* owner = nullptr;
  std::uint32_t stream = 0;
};

class loop {
 public:
  loop();
  ~loop();
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;
  /// Watches for these events; 0 takes it out (a mere mask of 0 would still report a hang-up, again and again).
  void watch(source& s, std::uint32_t events);
  /// Takes it out and closes its descriptor.
  void close(source& s);
  /// Waits at most `timeout_ms` (-1: for ever) and calls what is ready.
  void run_once(int timeout_ms);

 private:
  int epoll_;
  epoll_event ready_[64];
  int count_ = 0;
};

/// Milliseconds of the monotonic clock.
std::int64_t now_ms();
void close_fd(int& fd);

}  // namespace berth::resident
