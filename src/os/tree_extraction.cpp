#include "os/tree_extraction.hpp"

#include "core/shown_path.hpp"
#include "os/file_failure.hpp"
#include "os/fresh_file.hpp"
#include "os/open_beneath.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace berth {
namespace {

constexpr mode_t file_bits = 0777, directory_bits = 01777, all_bits = 0777;
constexpr mode_t only_owner = 0700;

template <class Function>
void for_each_component(std::string_view path, Function function) {
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    const auto name = path.substr(at, end - at);
    if (!name.empty() && name != ".") function(name);
    at = end + 1;
  }
}

/// The name in its plain form; empty for the directory itself.
std::string clean(const char* path) {
  if (path == nullptr) throw error(make_error_code(errc::protocol), "an entry without a name");
  if (*path == '/') throw error(make_error_code(errc::protocol), shown_path(path) + " is absolute");
  std::string plain;
  for_each_component(path, [&](std::string_view name) {
    if (name == "..") throw error(make_error_code(errc::protocol), shown_path(path) + " leads out of the directory");
    if (!plain.empty()) plain += '/';
    plain += name;
  });
  return plain;
}

timespec modified_of(archive_entry* entry) {
  timespec when{};
  when.tv_nsec = UTIME_NOW;
  if (::archive_entry_mtime_is_set(entry) != 0) {
    when.tv_sec = ::archive_entry_mtime(entry);
    when.tv_nsec = ::archive_entry_mtime_nsec(entry);
  }
  return when;
}

struct times {
  explicit times(timespec modified) : both{{0, UTIME_OMIT}, modified} {}
  timespec both[2];
};

[[noreturn]] void fail(archive* with) {
  const char* const words = ::archive_error_string(with);
  throw error(make_error_code(errc::protocol), words != nullptr ? words : "not a tar stream");
}

void write_at(int fd, const char* bytes, std::size_t size, off_t offset) {
  while (size > 0) {
    const auto wrote = ::pwrite(fd, bytes, size, offset);
    if (wrote < 0 && errno == EINTR) continue;
    const auto done = static_cast<std::size_t>(check_file(wrote));
    bytes += done;
    size -= done;
    offset += wrote;
  }
}

/// Copies the entry's content; gives how much there was, holes left out.
std::uint64_t copy_content(archive* from, int fd) {
  std::uint64_t bytes = 0;
  for (;;) {
    const void* block = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int result = ::archive_read_data_block(from, &block, &size, &offset);
    if (result == ARCHIVE_EOF) return bytes;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) fail(from);
    write_at(fd, static_cast<const char*>(block), size, offset);
    bytes += size;
  }
}

bool is_directory(int directory, const std::string& name) {
  struct stat found {};
  return ::fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(found.st_mode);
}

/// Something under a temporary name, that gets its own or goes.
class renaming {
 public:
  explicit renaming(int directory) : directory_(directory), name_(temporary_name()) {}
  renaming(const renaming&) = delete;
  renaming& operator=(const renaming&) = delete;
  // After a rename onto the same file the temporary name is still there.
  ~renaming() { ::unlinkat(directory_, name_.c_str(), 0); }

  const char* name() const { return name_.c_str(); }
  void to(const std::string& name) { check_file(::renameat(directory_, name_.c_str(), directory_, name.c_str())); }

 private:
  int directory_;
  std::string name_;
};

}  // namespace

bool leads_outside(std::string_view path, std::string_view target) {
  if (target.empty() || target.front() == '/') return true;
  auto depth = std::count(path.begin(), path.end(), '/');
  bool went_down = false, outside = false;
  for_each_component(target, [&](std::string_view name) {
    if (name != "..")
      went_down = true;
    else if (went_down || --depth < 0)
      outside = true;  // `x/..` is elsewhere if x is a link
  });
  return outside;
}

void tree_extraction::add(archive* from, archive_entry* entry) {
  const std::string path = clean(::archive_entry_pathname(entry));
  if (path.empty()) return;
  try {
    make(from, entry, path);
  } catch (const error& failure) {
    throw failure.within(shown_path(path));
  }
}

void tree_extraction::make(archive* from, archive_entry* entry, const std::string& path) {
  scope_->check_entry(tree_, path);
  const place where = place_of(path);
  if (const char* const target = ::archive_entry_hardlink(entry); target != nullptr) {
    const std::string plain = clean(target);
    scope_->check_entry(tree_, plain);  // or the new name would be a way to change it
    return make_hard_link(plain, where);
  }
  switch (::archive_entry_filetype(entry)) {
    case AE_IFREG:
      return make_file(from, entry, where);
    case AE_IFDIR:
      return make_directory(entry, where, path);
    case AE_IFLNK:
      return make_link(entry, where, path);
    default:
      progress_.skip(path);
  }
}

tree_extraction::place tree_extraction::place_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == path.npos) return {top(), path};
  auto directory = path.substr(0, slash);
  if (!entered_ || entered_path_ != directory) {
    enter(directory);
    entered_path_ = std::move(directory);
  }
  return {entered_.get(), path.substr(slash + 1)};
}

/// Opens a directory below the top, making what is missing.
void tree_extraction::enter(const std::string& directory) {
  entered_ = open_directory_without_links(top(), directory.c_str());
  if (entered_) return;
  if (errno != ENOENT) throw file_failure(errno == ELOOP ? ENOTDIR : errno, "a directory above it");
  for (std::size_t at = 0; at < directory.size();) {
    const auto begin = at;
    at = std::min(directory.find('/', at + 1), directory.size());
    const int above = begin == 0 ? top() : entered_.get();
    const auto name = directory.substr(begin == 0 ? 0 : begin + 1, at - (begin == 0 ? 0 : begin + 1));
    if (::mkdirat(above, name.c_str(), all_bits) != 0 && errno != EEXIST) fail_with_errno("a directory above it");
    unique_fd next(::openat(above, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    check_file(next.get(), "a directory above it");
    entered_ = std::move(next);
  }
}

void tree_extraction::make_file(archive* from, archive_entry* entry, const place& where) {
  if (is_directory(where.directory, where.name)) throw file_failure(EISDIR);
  fresh_file fresh(where.directory, only_owner);
  const auto bytes = copy_content(from, fresh.fd());
  const auto size = ::archive_entry_size(entry);
  if (static_cast<std::uint64_t>(size) != bytes) check_file(::ftruncate(fresh.fd(), size));
  check_file(::fchmod(fresh.fd(), ::archive_entry_perm(entry) & file_bits));
  check_file(::futimens(fresh.fd(), times(modified_of(entry)).both));
  if (!fresh.publish_new(where.name)) fresh.publish(where.name);
  progress_.add(1, bytes);
}

void tree_extraction::make_directory(archive_entry* entry, const place& where, const std::string& path) {
  if (::mkdirat(where.directory, where.name.c_str(), only_owner) != 0) {
    if (errno != EEXIST) fail_with_errno("");
    if (!is_directory(where.directory, where.name)) throw file_failure(ENOTDIR);
  }
  directories_.push_back({path, static_cast<mode_t>(::archive_entry_perm(entry) & directory_bits), modified_of(entry)});
  progress_.add(1, 0);
}

void tree_extraction::make_link(archive_entry* entry, const place& where, const std::string& path) {
  const char* const target = ::archive_entry_symlink(entry);
  if (target == nullptr) throw error(make_error_code(errc::protocol), "a link without a target");
  if (links_ == outside_links::skip && leads_outside(path, target)) return progress_.skip(path);
  if (is_directory(where.directory, where.name)) throw file_failure(EISDIR);
  renaming made(where.directory);
  check_file(::symlinkat(target, where.directory, made.name()));
  ::utimensat(where.directory, made.name(), times(modified_of(entry)).both, AT_SYMLINK_NOFOLLOW);
  made.to(where.name);
  progress_.add(1, 0);
}

void tree_extraction::make_hard_link(const std::string& target, const place& where) {
  if (is_directory(where.directory, where.name)) throw file_failure(EISDIR);
  const auto slash = target.rfind('/');
  const auto directory = slash == target.npos ? std::string(".") : target.substr(0, slash);
  const auto name = slash == target.npos ? target : target.substr(slash + 1);
  const unique_fd above = open_directory_without_links(top(), directory.c_str());
  check_file(above.get(), "the file that it is a name of");
  renaming made(where.directory);
  check_file(::linkat(above.get(), name.c_str(), where.directory, made.name(), 0), "the file that it is a name of");
  made.to(where.name);
  progress_.add(1, 0);
}

void tree_extraction::finish() {
  entered_.reset();
  for (auto each = directories_.rbegin(); each != directories_.rend(); ++each) {
    const auto slash = each->path.rfind('/');
    const auto above = slash == each->path.npos ? std::string(".") : each->path.substr(0, slash);
    const auto name = slash == each->path.npos ? each->path : each->path.substr(slash + 1);
    const unique_fd parent = open_directory_without_links(top(), above.c_str());
    const unique_fd itself(::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!itself) throw file_failure(errno, shown_path(each->path));
    if (::fchmod(itself.get(), each->mode) != 0 || ::futimens(itself.get(), times(each->modified).both) != 0)
      throw file_failure(errno, shown_path(each->path));
  }
}

}  // namespace berth
