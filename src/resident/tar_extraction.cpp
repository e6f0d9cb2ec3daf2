#include "resident/tar_extraction.hpp"

#include "resident/file_paths.hpp"

#include <fcntl.h>

namespace berth::resident {
namespace {

constexpr mode_t file_bits = 0777, directory_bits = 01777, all_bits = 0777, only_owner = 0700;

bool is_directory(int directory, const char* name) {
  struct stat found {};
  return fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(found.st_mode);
}

timespec modified_of(const tar_entry& entry) {
  timespec when{};
  when.tv_nsec = UTIME_NOW;
  if (!entry.has_time) return when;
  when.tv_sec = static_cast<time_t>(entry.seconds);
  when.tv_nsec = entry.nanoseconds;
  return when;
}

struct times {
  explicit times(timespec modified) : both{{0, UTIME_OMIT}, modified} {}
  timespec both[2];
};

/// All but the last component, and that.
void split(std::string_view path, std::string_view& directory, std::string_view& name) {
  const std::size_t slash = path.rfind('/');
  directory = slash == path.npos ? std::string_view() : wire::part(path, 0, slash);
  name = slash == path.npos ? path : wire::part(path, slash + 1);
}

}  // namespace

tar_extraction::~tar_extraction() {
  if (fresh_ != nullptr) destroy(fresh_);
}

bool tar_extraction::clean(std::string_view path, text& plain) {
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t slash = path.find('/', at);
    const std::size_t end = slash == path.npos ? path.size() : slash;
    const std::string_view name = wire::part(path, at, end - at);
    if (name == "..") return false;
    if (!name.empty() && name != ".") {
      if (!plain.empty()) plain.append("/");
      plain.append(name);
    }
    at = end + 1;
  }
  return !path.starts_with('/');
}

/// Opens a directory below the top, making what is missing.
int tar_extraction::enter(std::string_view directory) {
  if (directory.empty()) return top_.get();
  if (entered_ && entered_path_.view() == directory) return entered_.get();
  entered_path_.assign(directory);
  entered_ = open_without_links(top_.get(), entered_path_.c_str());
  if (entered_) return entered_.get();
  if (errno != ENOENT) {
    if (errno == ELOOP) errno = ENOTDIR;
    fail(file_reason::directory_above);
  }
  make_on_way(directory);
  return entered_.get();
}

void tar_extraction::make_on_way(std::string_view directory) {
  for (std::size_t at = 0; at < directory.size();) {
    const std::size_t slash = directory.find('/', at);
    const std::size_t end = slash == directory.npos ? directory.size() : slash;
    const text name(wire::part(directory, at, end - at));
    const int above = at == 0 ? top_.get() : entered_.get();
    if (mkdirat(above, name.c_str(), all_bits) != 0 && errno != EEXIST) fail(file_reason::directory_above);
    file_fd next(openat(above, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) fail(file_reason::directory_above);
    entered_ = static_cast<file_fd&&>(next);
    at = end + 1;
  }
}

void tar_extraction::refuse_directory(int directory, const char* name) const {
  if (is_directory(directory, name)) refuse(file_reason::none, EISDIR, path_.view());
}

void tar_extraction::begin(const tar_entry& entry) {
  const std::string_view given = entry.path;
  if (given.empty()) refuse(file_reason::no_name, 0);
  path_.resize(0);
  if (!clean(given, path_)) refuse(given.front() == '/' ? file_reason::absolute : file_reason::leads_out, 0, given);
  if (path_.empty()) return;
  std::string_view directory, name;
  split(path_.view(), directory, name);
  name_.assign(name);
  directory_ = enter(directory);
  if (entry.what == tar_entry::hard_link) return make_hard_link(directory_, name_.c_str(), entry.link);
  if (entry.what == tar_entry::directory) return make_directory(directory_, name_.c_str(), entry);
  if (entry.what == tar_entry::symlink) return make_link(directory_, name_.c_str(), entry);
  if (entry.what != tar_entry::file) return;
  refuse_directory(directory_, name_.c_str());
  mode_ = entry.mode & file_bits;
  modified_ = modified_of(entry);
  fresh_ = make<fresh_file>(directory_, only_owner, path_.view());
}

void tar_extraction::data(std::string_view bytes) {
  if (fresh_ != nullptr) fresh_->write(bytes);
}

void tar_extraction::end() {
  if (fresh_ == nullptr) return;
  if (fchmod(fresh_->fd(), mode_) != 0 || futimens(fresh_->fd(), times(modified_).both) != 0) fail(file_reason::none);
  if (!fresh_->publish_new(name_.c_str())) fresh_->publish(name_.c_str());
  destroy(fresh_);
  fresh_ = nullptr;
}

void tar_extraction::make_directory(int directory, const char* name, const tar_entry& entry) {
  if (mkdirat(directory, name, only_owner) != 0) {
    if (errno != EEXIST) fail(file_reason::none);
    if (!is_directory(directory, name)) refuse(file_reason::none, ENOTDIR, path_.view());
  }
  directories_.push({text(path_.view()), entry.mode & directory_bits, modified_of(entry)});
}

void tar_extraction::make_link(int directory, const char* name, const tar_entry& entry) {
  if (*entry.link == '\0') refuse(file_reason::no_target, 0, path_.view());
  refuse_directory(directory, name);
  temporary made(directory);
  if (symlinkat(entry.link, directory, made.name()) != 0) fail(file_reason::none);
  utimensat(directory, made.name(), times(modified_of(entry)).both, AT_SYMLINK_NOFOLLOW);
  made.rename_to(name, path_.view());
}

void tar_extraction::make_hard_link(int directory, const char* name, std::string_view target) {
  text plain;
  if (!clean(target, plain) || plain.empty()) refuse(file_reason::link_leads_out, 0, path_.view());
  refuse_directory(directory, name);
  std::string_view above, last;
  split(plain.view(), above, last);
  const file_fd from = open_without_links(top_.get(), above.empty() ? "." : text(above).c_str());
  if (!from) fail(file_reason::hard_link);
  temporary made(directory);
  if (linkat(from.get(), text(last).c_str(), directory, made.name(), 0) != 0) fail(file_reason::hard_link);
  made.rename_to(name, path_.view());
}

void tar_extraction::finish() {
  entered_.reset();
  for (std::size_t i = directories_.size(); i > 0; --i) {
    const made_directory& each = directories_[i - 1];
    std::string_view above, name;
    split(each.path.view(), above, name);
    const file_fd parent = open_without_links(top_.get(), above.empty() ? "." : text(above).c_str());
    const file_fd itself(openat(parent.get(), text(name).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!itself || fchmod(itself.get(), each.mode) != 0 || futimens(itself.get(), times(each.modified).both) != 0)
      refuse(file_reason::none, errno, each.path.view());
  }
}

}  // namespace berth::resident
