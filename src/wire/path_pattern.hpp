#pragma once
/// Which paths of a tree are left out: one pattern as a line of .gitignore, without `!`.

#include <cstddef>
#include <string_view>

namespace berth::wire {

/// `*` and `?` match within a component, `**` across them, `[...]` one of a set; a backslash takes the next character as it is. Bytes,
/// not characters. Holds views of the text it was made from.
class path_pattern {
 public:
  /// False for an empty pattern, and for one that begins with `!`.
  bool set(std::string_view text) noexcept;
  /// `path` is relative, without a slash at its end. `scratch` has room for `scratch_size()` bytes.
  bool match(std::string_view path, bool is_directory, char* scratch) const noexcept;
  std::size_t scratch_size() const noexcept { return 2 * (text_.size() + 1); }

 private:
  std::string_view text_;
  bool anchored_ = false;          ///< starts at the top of the tree
  bool directories_only_ = false;  ///< a slash at its end
};

/// Does the whole pattern match the whole text? Its time is at most the product of their lengths. `scratch` has room for twice the
/// pattern, and two.
bool glob_match(std::string_view pattern, std::string_view text, char* scratch) noexcept;

}  // namespace berth::wire
