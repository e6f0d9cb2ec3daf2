#pragma once
/// Walking a tree with open directories, never through links.

#include "berth/files.hpp"
#include "os/unique_fd.hpp"

#include <sys/stat.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <dirent.h>

namespace berth {

/// One entry, in a directory that is open until the walk goes on.
struct walked_entry {
  int directory = -1;
  std::string name;
  std::string path;  ///< below the directory the walk began in
  struct stat status = {};
};

/// Gives entries in the order the system has them, what is in a directory after the directory itself, where `enter` was called.
/// What vanishes meanwhile is left out. However deep a tree is, few descriptors are open at once. All functions block and throw as
/// `file_failure` does, naming the entry; errc::conflict where a directory high above was moved while the walk was far below it.
class directory_walk {
 public:
  explicit directory_walk(unique_fd top);

  /// The next entry, valid until the next call; none when the walk has ended.
  const walked_entry* next();
  /// Goes into the directory that next() gave.
  void enter();
  /// Goes into another one in its place; none: the same as above.
  void enter(unique_fd instead);
  std::size_t depth() const noexcept { return levels_.size(); }
  /// Called once all of a directory was given, before it is closed.
  virtual void finished(int /*parent*/, const std::string& /*name*/, const std::string& /*path*/, int /*itself*/) {}

  directory_walk(const directory_walk&) = delete;
  directory_walk& operator=(const directory_walk&) = delete;
  virtual ~directory_walk() = default;

 private:
  struct closer {
    void operator()(DIR* open) const noexcept { ::closedir(open); }
  };
  using open_directory = std::unique_ptr<DIR, closer>;
  struct level {
    open_directory open;  // none while the walk is far below
    std::string name;
    std::size_t path_size;          // of `path_` while it is the last
    bool is_instead;                // of another one: `..` does not lead back
    bool is_read;                   // all of it, and what is left of it is in `rest`
    std::vector<std::string> rest;  // backwards
    dev_t device;
    ino_t number;
  };
  static open_directory open_from(unique_fd directory);
  void push(unique_fd directory, bool is_instead);
  void pop();
  bool read_name(level& from, std::string& name);
  void close_far_above();
  void open_again(level& above, const level& below);

  std::vector<level> levels_;
  std::string path_;  // of the last, with a slash at its end, or empty
  walked_entry entry_;
};

/// Work that is done in slices of some milliseconds.
class sliced_work {
 public:
  virtual ~sliced_work() = default;
  /// True while there is more to do.
  virtual bool step() = 0;

 protected:
  static constexpr auto slice = std::chrono::milliseconds(10);
};

/// What `fstatat` says, as a file_info. An empty name means the descriptor itself.
file_info info_of(int directory, const std::string& name, std::string path, const struct stat& status);

}  // namespace berth
