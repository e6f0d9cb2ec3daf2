#include "isolation/plan_state.hpp"

#include "isolation/real_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <string>

namespace berth {
namespace {

std::int64_t nanoseconds(const struct statx_timestamp& time) {
  constexpr std::int64_t in_a_second = 1000000000;
  return time.tv_sec * in_a_second + time.tv_nsec;
}

path_state state_of(const std::string& path, bool with_content) {
  struct statx found {};
  path_state state;
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BASIC_STATS | STATX_BTIME, &found) != 0) {
    if (!means_missing(errno)) state.failure = errno;
    return state;
  }
  state.device = makedev(found.stx_dev_major, found.stx_dev_minor);
  state.number = found.stx_ino;
  if ((found.stx_mask & STATX_BTIME) != 0) state.made = nanoseconds(found.stx_btime);
  if (with_content) state.written = nanoseconds(found.stx_ctime);
  return state;
}

}  // namespace

std::vector<path_state> look_at(const isolation_plan& plan) {
  std::vector<path_state> all;
  all.reserve(plan.looked_at.size() + plan.read.size());
  for (const std::string& each : plan.looked_at) all.push_back(state_of(each, false));
  for (const std::string& each : plan.read) all.push_back(state_of(each, true));
  return all;
}

}  // namespace berth
