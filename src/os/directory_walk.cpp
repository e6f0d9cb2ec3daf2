#include "os/directory_walk.hpp"

#include "core/shown_path.hpp"
#include "os/file_failure.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

namespace berth {
namespace {

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

directory_walk::directory_walk(unique_fd top) { push(std::move(top), {}, {}); }

void directory_walk::push(unique_fd directory, std::string name, std::string path) {
  std::unique_ptr<DIR, closer> open(::fdopendir(directory.get()));
  if (!open) fail_with_errno("");
  directory.release();
  levels_.push_back({std::move(open), std::move(name), std::move(path)});
}

void directory_walk::pop() {
  level& last = levels_.back();
  if (levels_.size() > 1) {
    const int parent = ::dirfd(levels_[levels_.size() - 2].open.get());
    finished(parent, last.name, last.path.substr(0, last.path.size() - 1), ::dirfd(last.open.get()));
  }
  levels_.pop_back();
}

const walked_entry* directory_walk::next() {
  while (!levels_.empty()) {
    level& at = levels_.back();
    errno = 0;
    const dirent* const found = ::readdir(at.open.get());
    if (found == nullptr) {
      if (errno != 0 && errno != ENOENT) throw file_failure(errno, shown_path(at.path));
      pop();
      continue;
    }
    if (std::strcmp(found->d_name, ".") == 0 || std::strcmp(found->d_name, "..") == 0) continue;
    entry_.directory = ::dirfd(at.open.get());
    entry_.name = found->d_name;
    entry_.path = at.path + entry_.name;
    if (::fstatat(entry_.directory, entry_.name.c_str(), &entry_.status, AT_SYMLINK_NOFOLLOW) == 0) return &entry_;
    if (errno != ENOENT) throw file_failure(errno, shown_path(entry_.path));
  }
  return nullptr;
}

void directory_walk::enter(unique_fd instead) {
  if (!instead) return enter();
  push(std::move(instead), entry_.name, entry_.path + "/");
}

void directory_walk::enter() {
  unique_fd directory(::openat(entry_.directory, entry_.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory && errno == ENOENT) return;
  if (!directory) throw file_failure(errno, shown_path(entry_.path));
  push(std::move(directory), entry_.name, entry_.path + "/");
}

}  // namespace berth
