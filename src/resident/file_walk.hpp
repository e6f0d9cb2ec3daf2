#pragma once
/// Walking a tree with open directories, never through links.

#include "resident/file_base.hpp"

#include <dirent.h>
#include <sys/stat.h>

namespace berth::resident {

/// What is in a directory comes after the directory itself, where enter() was called. What vanishes meanwhile is left out.
class tree_walk {
 public:
  enum class step {
    entry,  ///< `name` in `directory`; `status` is its own
    left,   ///< all of the directory `name` was given
    end,
  };

  explicit tree_walk(file_fd top) { push(static_cast<file_fd&&>(top), 0); }
  tree_walk(const tree_walk&) = delete;
  tree_walk& operator=(const tree_walk&) = delete;
  ~tree_walk() = default;

  step next();
  /// Goes into the directory that next() gave.
  void enter();
  std::size_t depth() const { return levels_.size(); }

  int directory() { return dirfd(levels_.last().open); }
  const char* name() const { return path_.c_str() + name_at_; }
  /// Below the directory the walk began in.
  std::string_view path() const { return path_.view(); }
  const struct stat& status() const { return status_; }

 private:
  struct level {
    level(DIR* o, std::size_t size) : open(o), path_size(size) {}
    level(level&& other) noexcept : open(other.open), path_size(other.path_size) { other.open = nullptr; }
    level& operator=(level&&) = delete;
    ~level() {
      if (open != nullptr) closedir(open);
    }
    DIR* open;
    std::size_t path_size;  ///< of the directory's own path
  };
  void push(file_fd directory, std::size_t path_size);
  void set_path(std::size_t directory_size, std::string_view name);

  row<level> levels_;
  text path_;
  std::size_t name_at_ = 0;
  struct stat status_ = {};
};

}  // namespace berth::resident
