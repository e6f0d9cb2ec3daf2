#include "resident/loop.hpp"

#include <time.h>
#include <unistd.h>

namespace berth::resident {

std::int64_t now_ms() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

loop::loop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

loop::~loop() { close_fd(epoll_); }

void loop::watch(source& s, std::uint32_t events) {
  if (s.watched == events) return;
  epoll_event e{};
  e.events = events;
  e.data.ptr = &s;
  epoll_ctl(epoll_, events == 0 ? EPOLL_CTL_DEL : s.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, s.fd, &e);
  s.watched = events;
}

void loop::close(source& s) {
  if (s.fd < 0) return;
  watch(s, 0);
  close_fd(s.fd);
  // What this round already reported must not reach a source that its owner may free now.
  for (int i = 0; i < count_; ++i) {
    if (ready_[i].data.ptr == &s) ready_[i].data.ptr = nullptr;
  }
}

void loop::run_once(int timeout_ms) {
  count_ = epoll_wait(epoll_, ready_, 64, timeout_ms);
  for (int i = 0; i < count_; ++i) {
    auto* s = static_cast<source*>(ready_[i].data.ptr);
    if (s != nullptr && s->watched != 0) s->ready(*s, ready_[i].events);
  }
  count_ = 0;
}

}  // namespace berth::resident
