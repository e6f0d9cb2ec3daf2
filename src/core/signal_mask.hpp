#pragma once
// The signals of a thread.

#include <csignal>

namespace berth {

/// This thread takes no signals for as long as this lives, nor do the threads that it starts meanwhile: a host program's
/// handlers run on its own threads.
class all_signals_blocked {
 public:
  all_signals_blocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;
  ~all_signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace berth
