#pragma once
/// What is seen at which path, and what of it may be changed.

#include "os/unique_fd.hpp"

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

/// As text; see ruled_places.
struct path_rules {
  struct place {
    std::string seen_at;  ///< absolute, plain
    std::string real;     ///< what is seen there: its real path
    bool is_writable = false;
  };
  /// Outside of them everything is seen where it lies, and nothing may be changed.
  std::vector<place> places = {};
  /// Paths as seen, which may not be changed though a place that may holds them.
  std::vector<std::string> protected_paths = {};
  /// As seen; they stay where they are, and so does what holds them.
  std::vector<std::string> kept = {};
  /// As seen; they may be filled, and stay where they are.
  std::vector<std::string> held = {};
  /// Ends the message about what lies outside.
  std::string advice = {};
};

/// The rules with what they name held open: a place stays the directory that it was. May be used from several threads.
class ruled_places {
 public:
  struct place {
    std::string path;  ///< where it is seen
    unique_fd fd;      ///< O_PATH
    bool is_directory = true;
    bool is_writable = false;
  };

  /// No rules: everything may be changed.
  ruled_places() = default;
  /// Opens all places. Blocks.
  /// Errors: as file_failure, and those of places that are no real paths.
  explicit ruled_places(path_rules rules);

  /// The same to look at, and nothing may be changed, for this reason. There must be places.
  ruled_places refusing(const std::string& why) const;

  bool empty() const noexcept { return places_.empty(); }
  /// What is seen exactly there, in place of what lies there.
  const place* at(std::string_view path) const noexcept;
  /// The innermost that the path lies in.
  const place* around(std::string_view path) const noexcept;
  /// Nothing else is seen below it.
  bool is_plain(const place& one) const noexcept;
  bool is_protected(const struct stat& found) const noexcept;

  /// May what has the path be made, replaced or filled? Errors: permission_denied.
  void check_change(const std::string& path) const;
  /// May it go away? Not what is a place or kept, or holds such or something protected. Errors: permission_denied.
  void check_leaving(const std::string& path) const;
  [[noreturn]] static void refuse_protected();

 private:
  std::vector<place> places_;  // inner ones first
  std::vector<std::string> protected_;
  std::vector<std::string> kept_;
  std::vector<std::string> held_;
  std::vector<std::pair<dev_t, ino_t>> protected_files_;
  std::string advice_;
  std::string refusal_;  // why nothing may be changed at all
};

/// The path of an entry.
std::string path_below(const std::string& directory, const std::string& name);

}  // namespace berth
