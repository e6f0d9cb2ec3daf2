#include "os/directory_walk.hpp"

#include "core/shown_path.hpp"
#include "os/file_failure.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <iterator>
#include <utility>

namespace berth {
namespace {

constexpr std::size_t most_open = 32;

file_type type_of(mode_t mode) {
  if (S_ISREG(mode)) return file_type::regular;
  if (S_ISDIR(mode)) return file_type::directory;
  return S_ISLNK(mode) ? file_type::symlink : file_type::other;
}

std::string link_target(int directory, const std::string& name) {
  std::string target(PATH_MAX, '\0');
  const auto size = ::readlinkat(directory, name.c_str(), target.data(), target.size());
  target.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return target;
}

}  // namespace

file_info info_of(int directory, const std::string& name, std::string path, const struct stat& status) {
  constexpr mode_t permission_bits = 07777;
  file_info info(std::move(path), type_of(status.st_mode));
  const auto since = std::chrono::seconds(status.st_mtim.tv_sec) + std::chrono::nanoseconds(status.st_mtim.tv_nsec);
  info.modified(file_info::time_point(std::chrono::duration_cast<file_info::time_point::duration>(since)));
  info.mode(status.st_mode & permission_bits);
  if (info.is_regular()) info.size(static_cast<std::uint64_t>(status.st_size));
  if (info.type() == file_type::symlink) info.link_target(link_target(directory, name));
  return info;
}

directory_walk::directory_walk(unique_fd top) { push(std::move(top), true); }

directory_walk::open_directory directory_walk::open_from(unique_fd directory) {
  open_directory open(::fdopendir(directory.get()));
  if (!open) fail_with_errno("");
  directory.release();
  return open;
}

void directory_walk::push(unique_fd directory, bool is_instead) {
  struct stat found {};
  check_file(::fstat(directory.get(), &found));
  open_directory open = open_from(std::move(directory));
  if (!levels_.empty()) path_ = entry_.path + '/';
  levels_.push_back({std::move(open), entry_.name, path_.size(), is_instead, false, {}, found.st_dev, found.st_ino});
  close_far_above();
}

void directory_walk::close_far_above() {
  if (levels_.size() <= most_open) return;
  const std::size_t at = levels_.size() - 1 - most_open;
  level& above = levels_[at];
  if (!above.open || levels_[at + 1].is_instead) return;
  std::vector<std::string> rest;
  for (std::string name; read_name(above, name);) rest.push_back(name);
  above.rest.assign(std::make_move_iterator(rest.rbegin()), std::make_move_iterator(rest.rend()));
  above.is_read = true;
  above.open.reset();
}

void directory_walk::open_again(level& above, const level& below) {
  unique_fd directory(::openat(::dirfd(below.open.get()), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat found {};
  if (!directory || ::fstat(directory.get(), &found) != 0) throw file_failure(errno, shown_path(path_));
  if (found.st_dev != above.device || found.st_ino != above.number)
    throw error(make_error_code(errc::conflict), shown_path(path_) + " was moved while the tree was read");
  above.open = open_from(std::move(directory));
}

void directory_walk::pop() {
  level& last = levels_.back();
  if (levels_.size() > 1) {
    level& above = levels_[levels_.size() - 2];
    if (!above.open) open_again(above, last);
    path_.pop_back();
    finished(::dirfd(above.open.get()), last.name, path_, ::dirfd(last.open.get()));
    path_.resize(above.path_size);
  }
  levels_.pop_back();
}

bool directory_walk::read_name(level& from, std::string& name) {
  if (from.is_read) {
    if (from.rest.empty()) return false;
    name = std::move(from.rest.back());
    from.rest.pop_back();
    return true;
  }
  for (;;) {
    errno = 0;
    const dirent* const found = ::readdir(from.open.get());
    if (found == nullptr) {
      if (errno != 0 && errno != ENOENT) throw file_failure(errno, shown_path(path_.substr(0, from.path_size)));
      return false;
    }
    if (std::strcmp(found->d_name, ".") == 0 || std::strcmp(found->d_name, "..") == 0) continue;
    name = found->d_name;
    return true;
  }
}

const walked_entry* directory_walk::next() {
  while (!levels_.empty()) {
    level& at = levels_.back();
    if (!read_name(at, entry_.name)) {
      pop();
      continue;
    }
    entry_.directory = ::dirfd(at.open.get());
    entry_.path = path_ + entry_.name;
    if (::fstatat(entry_.directory, entry_.name.c_str(), &entry_.status, AT_SYMLINK_NOFOLLOW) == 0) return &entry_;
    if (errno != ENOENT) throw file_failure(errno, shown_path(entry_.path));
  }
  return nullptr;
}

void directory_walk::enter(unique_fd instead) {
  if (!instead) return enter();
  push(std::move(instead), true);
}

void directory_walk::enter() {
  unique_fd directory(::openat(entry_.directory, entry_.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory && errno == ENOENT) return;
  if (!directory) throw file_failure(errno, shown_path(entry_.path));
  push(std::move(directory), false);
}

}  // namespace berth
