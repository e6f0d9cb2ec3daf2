#pragma once
/// Gathers what happened to files into one event for each.

#include <berth/files.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace berth {

/// Pure: no clock, no I/O. Beyond `most_paths` paths it keeps but one fact, that something was lost.
class watch_batch {
 public:
  static constexpr std::size_t most_paths = 10'000;

  void add(const watch_event& event);
  void add(const std::vector<watch_event>& events) {
    for (const auto& each : events) add(each);
  }
  bool empty() const noexcept { return changes_.empty() && !overflow_; }
  /// One event for each path, in the order of first change; an overflow is the first. Of what came and went: nothing.
  std::vector<watch_event> take();

 private:
  struct change {
    std::size_t order;
    bool was_there;
    bool is_there;
  };
  std::map<std::string, change> changes_;
  bool overflow_ = false;
};

}  // namespace berth
