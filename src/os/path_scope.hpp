#pragma once
/// Walking paths so that they end where they may.

#include "os/unique_fd.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// A name in an open directory: what system calls ending in `at` take.
struct located {
  unique_fd directory;  ///< O_PATH
  std::string name;     ///< one component, or "." for the directory itself
};

/// How a path is walked: by the kernel (openat2) where it can, or one component after the other. The result is the same.
enum class path_walking { by_kernel, by_component };

/// The directories below which files may be touched. A path is walked once, by descriptors; whatever is swapped for a link
/// meanwhile, the end lies below a root, or the walk fails with permission_denied. A root is the directory that had
/// its path when this was made. Links of /proc that lead to open files are refused.
///
/// All functions block, take absolute paths, and throw as `file_failure` does. May be used from several threads.
class path_scope {
 public:
  /// Everything.
  path_scope();
  /// Below these, which must be real paths of directories.
  explicit path_scope(const std::vector<std::string>& roots, path_walking walking = path_walking::by_kernel);

  /// As open(2) without O_CREAT; close-on-exec.
  unique_fd open(const std::string& path, int flags) const;
  /// Where the last component lies. It is not looked at, and need not be there.
  located parent_of(const std::string& path) const;
  /// The same, behind all links that the last component is.
  located target_of(const std::string& path) const;
  /// Makes what is missing of the path.
  void make_directories(const std::string& path) const;

 private:
  class walk;
  struct root {
    std::string path;
    unique_fd fd;
  };

  const root* root_of(std::string_view path) const noexcept;
  bool has_directory(const std::string& path) const;
  int open_by_kernel(const std::string& path, int flags, unique_fd& opened) const;

  std::vector<root> roots_;
  path_walking walking_;
};

/// A scope that touches everything; one for the whole process.
const std::shared_ptr<const path_scope>& whole_host();

}  // namespace berth
