#include "context/resident_watchdog.hpp"

namespace berth {
namespace {

// So late, and it was our loop (or the machine) that stood still: what the resident said may not have been read yet.
constexpr std::chrono::milliseconds stall(300);

}  // namespace

void resident_watchdog::begin(clock::time_point now) noexcept {
  phase_ = phase::listening;
  since_ = now;
  due_ = now + period;
}

resident_watchdog::action resident_watchdog::tick(clock::time_point now, clock::time_point heard) noexcept {
  const bool stalled = now > due_ + stall;
  if (heard > since_) {
    phase_ = phase::listening;
    since_ = heard;
  } else if (stalled) {
    since_ = now;  // the phase begins anew
  }
  due_ = since_ + period;
  if (now < due_) return action::none;
  since_ = now;
  due_ = now + period;
  if (phase_ == phase::listening) {
    phase_ = phase::asked;
    return action::ping;
  }
  if (phase_ == phase::asked) {
    phase_ = phase::continued;
    return action::resume;
  }
  return action::kill;
}

}  // namespace berth
