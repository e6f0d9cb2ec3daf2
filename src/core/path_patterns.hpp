#pragma once
// Which paths of a tree are left out.

#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// Patterns as in .gitignore, without `!`: `*` and `?` match within a component, `**` across them, `[...]` one of a set; a
/// backslash takes the next character as it is. With a slash before its end a pattern starts at the top; a slash at its end
/// means directories only. Bytes, not characters.
class path_patterns {
 public:
  path_patterns() = default;
  /// Throws invalid_argument for an empty pattern, and for one that begins with `!`.
  explicit path_patterns(const std::vector<std::string>& patterns);

  /// `path` is relative, without a slash at its end. Whoever walks a tree does not go into what matched.
  bool match(std::string_view path, bool is_directory) const;
  bool empty() const noexcept { return patterns_.empty(); }

 private:
  struct pattern {
    std::string text;
    bool anchored;
    bool directories_only;
  };
  std::vector<pattern> patterns_;
};

/// Does the whole pattern match the whole text? Its time is at most the product of their lengths.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace berth
