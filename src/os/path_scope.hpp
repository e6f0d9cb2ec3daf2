#pragma once
/// Walking paths so that what is changed lies where it may.

#include "os/path_rules.hpp"
#include "os/path_walk.hpp"
#include "os/unique_fd.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace berth {

/// How a path is walked: by the kernel (openat2) where it can, or one component after the other. The result is the same.
enum class path_walking { by_kernel, by_component };

/// A directory that is open for reading, and its path as seen.
struct open_tree {
  unique_fd directory;
  std::string path;
};

/// Reads go anywhere, through what is seen elsewhere than it lies; changes stay where the rules allow them. A path is
/// walked once, by descriptors: whatever is swapped for a link meanwhile, the end of a change lies in a writable place and not in
/// what is protected, or the walk fails with permission_denied. Links of /proc that lead to open files are refused.
///
/// All functions block, take absolute paths, and throw as `file_failure` does. May be used from several threads.
class path_scope {
 public:
  /// Everything.
  path_scope() = default;
  explicit path_scope(path_rules rules, path_walking walking = path_walking::by_kernel)
      : places_(std::move(rules)), walking_(walking) {}

  /// What may be looked at as in this one; every change is permission_denied, with this message.
  std::shared_ptr<const path_scope> refusing(const std::string& why) const;

  // ---- looking
  /// As open(2) without O_CREAT, and for reading; close-on-exec.
  unique_fd open(const std::string& path, int flags) const;
  open_tree open_directory(const std::string& path) const;
  /// What the path is behind all links. It is not looked at, and need not be there.
  located target_of(const std::string& path) const;
  /// Open for reading, where a directory of elsewhere is seen at the path (as seen); else none.
  unique_fd seen_at(const std::string& path) const;

  // ---- changing
  /// Where a file may be written: behind all links.
  located to_write(const std::string& path) const;
  /// A name that may go away or be replaced. It is not looked at, and need not be there.
  located to_move(const std::string& path) const;
  /// Makes what is missing of the path.
  void make_directories(const std::string& path) const;
  /// A directory that may be filled, made where it is missing.
  open_tree to_fill(const std::string& path) const;
  /// Is it allowed to change the entry of a directory that to_fill gave? `path` as seen, and below it without links.
  void check_entry(const open_tree& of, const std::string& path) const;

 private:
  path_walk::result find(const std::string& path, path_walk::ending last) const;
  located to_make(const std::string& path) const;
  bool has_directory(const std::string& path) const;
  int open_by_kernel(const std::string& path, int flags, unique_fd& opened) const;

  ruled_places places_;
  path_walking walking_ = path_walking::by_kernel;
};

/// Gives the scope that counts at the moment. May block; called on any thread.
using scope_source = std::function<std::shared_ptr<const path_scope>()>;

/// A scope that touches everything; one for the whole process.
const std::shared_ptr<const path_scope>& whole_host();

}  // namespace berth
