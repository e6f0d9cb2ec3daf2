#pragma once
/// Why a container ended, from what its daemon reports of it.

#include "context/resident_link.hpp"
#include "core/json.hpp"

#include <optional>
#include <string>

namespace berth {

/// The cause where nothing else is known of a container that is no more.
inline constexpr const char* container_was_removed = "lost: the container was removed";

/// Takes the daemon's events of one container, in order. No I/O.
class container_story {
 public:
  void add(const json& event);
  /// The first process has ended.
  bool has_died() const noexcept { return exit_code_.has_value() || is_removed_; }
  /// Nothing more is to come.
  bool is_over() const noexcept { return is_removed_ || (has_died() && knows_cause()); }
  /// As far as it is known; an empty cause where nothing is.
  resident_end told() const;

 private:
  bool knows_cause() const noexcept { return saw_oom_ || signal_ != 0 || exit_code_ != killed; }

  static constexpr int killed = 128 + 9;

  bool saw_oom_ = false;
  bool is_removed_ = false;
  int signal_ = 0;  ///< that the daemon was asked to send
  std::optional<int> exit_code_;
};

}  // namespace berth
