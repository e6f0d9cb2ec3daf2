#pragma once
/// What inotify says about a directory, or about all directories below one.

#include "berth/files.hpp"
#include "os/path_scope.hpp"
#include "os/unique_fd.hpp"

#include <sys/stat.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct inotify_event;

namespace berth {

/// Blocks, throws as `file_failure` does, and is used by one thread at a time. A file is watched through its directory, since writers
/// replace files. Directories that are made later are watched from when their making is read; what was in them by
/// then is told as created.
class inotify_tree {
 public:
  inotify_tree(std::shared_ptr<const path_scope> scope, const std::string& path, bool recursive);

  /// Readable once something happened.
  int fd() const noexcept { return inotify_.get(); }
  /// What happened until now, without waiting; may be nothing.
  std::vector<watch_event> read();
  /// The watched directory is gone; nothing more will happen.
  bool ended() const noexcept { return ended_; }

 private:
  enum class contents { known, fresh };

  void watch_tree(unique_fd directory, const std::string& path, contents what, std::vector<watch_event>& events);
  int watch(int directory, const std::string& path);
  void translate(const inotify_event& happened, std::string_view name, std::vector<watch_event>& events);
  void forget(int number, std::vector<watch_event>& events);
  void enter(const std::string& path, std::vector<watch_event>& events);
  void leave(const std::string& path);

  unique_fd open_top() const;
  bool exists(const std::string& path) const;

  std::shared_ptr<const path_scope> scope_;
  std::string path_;
  bool recursive_;
  std::string only_;  // the name of the one file that is watched
  unique_fd inotify_;
  struct stat top_ = {};  // not kept open: the end of an open directory is not told
  int top_number_ = -1;
  std::map<int, std::string> paths_;    // by watch; with a slash at the end, or empty
  std::map<std::string, int> numbers_;  // the same the other way
  bool ended_ = false;
};

}  // namespace berth
