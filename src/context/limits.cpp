#include <berth/limits.hpp>

#include <berth/error.hpp>

#include <string>

namespace berth {
namespace {

[[noreturn]] void refuse(const char* why) { throw error(errc::invalid_argument, std::string("limits: ") + why); }

template <class T>
const std::optional<T>& first_of(const std::optional<T>& one, const std::optional<T>& other) {
  return one ? one : other;
}

}  // namespace

std::string_view to_string(limit_kind kind) noexcept {
  switch (kind) {
    case limit_kind::memory:
      return "memory";
    case limit_kind::cpu_time:
      return "cpu_time";
    case limit_kind::file_size:
      return "file_size";
    case limit_kind::processes:
      return "processes";
    case limit_kind::none:
      break;
  }
  return "none";
}

bool resource_limits::empty() const noexcept {
  return !memory_ && !cpu_time_ && !file_size_ && !processes_ && !open_files_ && !nice_;
}

resource_limits resource_limits::over(const resource_limits& other) const {
  resource_limits both;
  both.memory_ = first_of(memory_, other.memory_);
  both.cpu_time_ = first_of(cpu_time_, other.cpu_time_);
  both.file_size_ = first_of(file_size_, other.file_size_);
  both.processes_ = first_of(processes_, other.processes_);
  both.open_files_ = first_of(open_files_, other.open_files_);
  both.nice_ = first_of(nice_, other.nice_);
  return both;
}

void resource_limits::validate() const {
  if (cpu_time_ && cpu_time_->count() < 1) refuse("cpu_time must be at least 1 s");
  if (memory_ && *memory_ == 0) refuse("memory must be greater than 0");
  if (processes_ && *processes_ == 0) refuse("processes must be greater than 0");
  if (open_files_ && *open_files_ < 3) refuse("open_files must be at least 3, for the standard streams");
  if (nice_ && (*nice_ < -20 || *nice_ > 19)) refuse("nice must lie between -20 and 19");
}

}  // namespace berth
