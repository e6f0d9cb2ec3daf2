#include "context/watch_batch.hpp"

#include <utility>

namespace berth {

void watch_batch::add(const watch_event& event) {
  if (event.kind() == watch_kind::overflow) overflow_ = true;
  if (overflow_) return;
  const bool is_there = event.kind() != watch_kind::removed;
  const bool was_there = event.kind() != watch_kind::created;
  const auto [at, is_new] = changes_.try_emplace(event.path(), change{changes_.size(), was_there, is_there});
  if (!is_new) at->second.is_there = is_there;
  if (changes_.size() <= most_paths) return;
  overflow_ = true;
  changes_.clear();
}

std::vector<watch_event> watch_batch::take() {
  if (std::exchange(overflow_, false)) {
    changes_.clear();
    return std::vector<watch_event>(1, watch_event(watch_kind::overflow, ""));
  }
  std::vector<const std::pair<const std::string, change>*> ordered(changes_.size());
  for (const auto& each : changes_) ordered[each.second.order] = &each;
  std::vector<watch_event> events;
  for (const auto* each : ordered) {
    const auto& [path, what] = *each;
    if (what.was_there && what.is_there) events.emplace_back(watch_kind::modified, path);
    if (what.was_there && !what.is_there) events.emplace_back(watch_kind::removed, path);
    if (!what.was_there && what.is_there) events.emplace_back(watch_kind::created, path);
  }
  changes_.clear();
  return events;
}

}  // namespace berth
