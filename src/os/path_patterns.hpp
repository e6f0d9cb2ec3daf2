#pragma once
/// Which paths of a tree are left out.

#include "wire/path_pattern.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// Patterns as in .gitignore: see `wire::path_pattern`, which the resident uses, too.
class path_patterns {
 public:
  path_patterns() = default;
  /// Throws invalid_argument for an empty pattern, and for one that begins with `!`.
  explicit path_patterns(std::vector<std::string> patterns);
  path_patterns(const path_patterns&) = delete;
  path_patterns& operator=(const path_patterns&) = delete;

  /// `path` is relative, without a slash at its end. Whoever walks a tree does not go into what matched.
  bool match(std::string_view path, bool is_directory) const;
  bool empty() const noexcept { return patterns_.empty(); }

 private:
  std::vector<std::string> texts_;
  std::vector<wire::path_pattern> patterns_;
  mutable std::string scratch_;
};

}  // namespace berth
