#include "os/without_capabilities.hpp"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace berth {

without_capabilities::without_capabilities() noexcept {
  static_assert(sizeof(set) == sizeof(__user_cap_data_struct));
  __user_cap_header_struct own_thread{_LINUX_CAPABILITY_VERSION_3, 0};
  if (::syscall(SYS_capget, &own_thread, before_.data()) != 0) return;
  auto none = before_;
  for (set& each : none) each.effective = 0;
  changed_ = before_[0].effective != 0 || before_[1].effective != 0;
  holds_ = !changed_ || ::syscall(SYS_capset, &own_thread, none.data()) == 0;
}

without_capabilities::~without_capabilities() {
  __user_cap_header_struct own_thread{_LINUX_CAPABILITY_VERSION_3, 0};
  if (changed_ && holds_) ::syscall(SYS_capset, &own_thread, before_.data());
}

}  // namespace berth
