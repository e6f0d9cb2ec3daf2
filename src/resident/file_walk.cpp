#include "resident/file_walk.hpp"

#include <fcntl.h>

namespace berth::resident {

void tree_walk::push(file_fd directory, std::size_t path_size) {
  DIR* const open = fdopendir(directory.get());
  if (open == nullptr) refuse(file_reason::none, errno, path_.view());
  directory.release();
  levels_.push(level(open, path_size));
}

void tree_walk::set_path(std::size_t directory_size, std::string_view name) {
  path_.resize(directory_size);
  if (directory_size > 0) path_.append("/");
  name_at_ = path_.size();
  path_.append(name);
}

tree_walk::step tree_walk::next() {
  for (;;) {
    level& at = levels_.last();
    errno = 0;
    const dirent* const found = readdir(at.open);
    if (found == nullptr) {
      path_.resize(at.path_size);
      if (errno != 0 && errno != ENOENT) refuse(file_reason::none, errno, path_.view());
      if (levels_.size() == 1) return step::end;
      levels_.pop();
      const std::size_t slash = path_.view().rfind('/');
      name_at_ = slash == std::string_view::npos ? 0 : slash + 1;
      return step::left;
    }
    if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0) continue;
    set_path(at.path_size, found->d_name);
    if (fstatat(directory(), name(), &status_, AT_SYMLINK_NOFOLLOW) == 0) return step::entry;
    if (errno != ENOENT) refuse(file_reason::none, errno, path_.view());
  }
}

void tree_walk::enter() {
  file_fd below(openat(directory(), name(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!below && errno == ENOENT) return;
  check(below.get(), file_reason::none, path_.view());
  push(static_cast<file_fd&&>(below), path_.size());
}

}  // namespace berth::resident
