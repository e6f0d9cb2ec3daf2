#include "os/path_scope.hpp"

#include "os/file_failure.hpp"
#include "os/open_beneath.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace berth {
namespace {

constexpr int position_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

/// The path cut into all but its last component, and that; the second is empty where there is none, or it is `.` or `..`.
std::pair<std::string, std::string> split_last(const std::string& path) {
  const auto end = path.find_last_not_of('/');
  if (end == path.npos) return {path, {}};
  const auto slash = path.find_last_of('/', end);
  auto name = path.substr(slash + 1, end - slash);
  if (name == "." || name == "..") return {path, {}};
  return {path.substr(0, std::max<std::size_t>(slash, 1)), std::move(name)};
}

/// EXDEV where the kernel could not say.
int undecided(int code) {
  const bool unable = code == ENOSYS || code == EAGAIN || code == EPERM;  // EPERM: older seccomp filters
  return unable ? EXDEV : code;
}

unique_fd open_again(int fd, int flags) {
  if ((flags & O_PATH) != 0) return unique_fd(check_file(::fcntl(fd, F_DUPFD_CLOEXEC, 0)));
  const std::string through = "/proc/self/fd/" + std::to_string(fd);
  return unique_fd(check_file(::open(through.c_str(), (flags & ~O_NOFOLLOW) | O_CLOEXEC)));
}

}  // namespace

/// 0, an errno, or EXDEV where a walk by hand must decide: absolute links, ways through other places, old kernels.
int path_scope::open_by_kernel(const std::string& path, int flags, unique_fd& opened) const {
  if (walking_ == path_walking::by_component) return EXDEV;
  if (places_.empty()) {
    opened = open_anywhere(path.c_str(), flags);
    return opened ? 0 : undecided(errno);
  }
  // Below a place where nothing else is seen, and never out of it, the kernel sees what we do.
  const auto* const from = places_.around(path);
  if (from == nullptr || !from->is_directory || !places_.is_plain(*from)) return EXDEV;
  auto rest = path.substr(std::min(path.size(), from->path.size()));
  rest.erase(0, std::min(rest.find_first_not_of('/'), rest.size()));
  opened = open_beneath(from->fd.get(), rest.empty() ? "." : rest.c_str(), flags);
  return opened ? 0 : undecided(errno);
}

path_walk::result path_scope::find(const std::string& path, path_walk::ending last) const {
  return path_walk(places_, last).run(path);
}

std::shared_ptr<const path_scope> path_scope::refusing(const std::string& why) const {
  const auto same = std::make_shared<path_scope>();
  same->places_ = places_.refusing(why);
  same->walking_ = walking_;
  return same;
}

// ---- looking --------------------------------------------------------------------------------------------------------

unique_fd path_scope::open(const std::string& path, int flags) const {
  unique_fd opened;
  const int code = open_by_kernel(path, flags, opened);
  if (code == 0) return opened;
  if (code != EXDEV) throw file_failure(code);
  const located end = find(path, {(flags & O_NOFOLLOW) == 0, true}).where;
  const int all = flags | (path.ends_with('/') ? O_DIRECTORY : 0);
  if (end.itself) return open_again(end.itself.get(), all);
  return unique_fd(check_file(::openat(end.directory.get(), end.name.c_str(), all | O_NOFOLLOW | O_CLOEXEC)));
}

open_tree path_scope::open_directory(const std::string& path) const {
  constexpr int flags = O_RDONLY | O_DIRECTORY;
  if (places_.empty()) return {open(path, flags), path};
  auto end = find(path, {true, true});
  const auto& where = end.where;
  if (where.itself) throw file_failure(ENOTDIR);
  unique_fd opened(check_file(::openat(where.directory.get(), where.name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC)));
  return {std::move(opened), std::move(end.path)};
}

located path_scope::target_of(const std::string& path) const {
  if (!places_.empty()) {
    auto end = find(path, {true, false});
    const auto* const place = places_.at(end.path);
    if (place != nullptr && place->is_directory) return {open_again(place->fd.get(), O_PATH), ".", {}};
    return std::move(end.where);
  }
  auto [directory, name] = split_last(path);
  if (name.empty()) return {open(path, position_flags), ".", {}};
  unique_fd above;
  const int code = open_by_kernel(directory, position_flags, above);
  if (code != 0 && code != EXDEV) throw file_failure(code);
  struct stat found {};
  const bool by_hand =
      code != 0 || (::fstatat(above.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(found.st_mode));
  if (by_hand) return find(path, {true, false}).where;
  return {std::move(above), std::move(name), {}};
}

unique_fd path_scope::seen_at(const std::string& path) const {
  const auto* const place = places_.at(path);
  if (place == nullptr || !place->is_directory) return unique_fd();
  return open_again(place->fd.get(), O_RDONLY | O_DIRECTORY);
}

// ---- changing -------------------------------------------------------------------------------------------------------

located path_scope::to_write(const std::string& path) const {
  if (places_.empty()) return target_of(path);
  auto end = find(path, {true, false});
  struct stat found {};
  const bool is_there = ::fstatat(end.where.directory.get(), end.where.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode) && !S_ISLNK(found.st_mode))
    throw error(make_error_code(errc::unsupported), "not a regular file");  // wherever it lies
  places_.check_change(end.path);
  if (end.is_protected) ruled_places::refuse_protected();
  if (places_.at(end.path) != nullptr && !end.where.itself) throw file_failure(EISDIR);
  return std::move(end.where);
}

located path_scope::to_move(const std::string& path) const {
  if (places_.empty()) return to_make(path);
  auto end = find(path, {false, false});
  places_.check_leaving(end.path);
  if (end.is_protected) ruled_places::refuse_protected();
  return std::move(end.where);
}

/// For a name that is to be made.
located path_scope::to_make(const std::string& path) const {
  if (!places_.empty()) {
    auto end = find(path, {false, false});
    places_.check_change(end.path);
    if (end.is_protected) ruled_places::refuse_protected();
    return std::move(end.where);
  }
  auto [directory, name] = split_last(path);
  if (name.empty()) return {open(path, position_flags), ".", {}};
  unique_fd opened;
  const int code = open_by_kernel(directory, position_flags, opened);
  if (code == 0) return {std::move(opened), std::move(name), {}};
  if (code != EXDEV) throw file_failure(code);
  return find(path, {false, false}).where;
}

bool path_scope::has_directory(const std::string& path) const {
  unique_fd opened;
  if (open_by_kernel(path, position_flags, opened) == 0) return true;
  try {
    (void)open(path, position_flags);
    return true;
  } catch (const error& failure) {
    if (failure.code() != errc::not_found) throw;
    return false;
  }
}

void path_scope::make_directories(const std::string& path) const {
  constexpr mode_t all_bits = 0777;  // less the umask
  std::vector<std::size_t> missing;
  for (auto end = path.size(); end > 0 && end != path.npos && !has_directory(path.substr(0, end));) {
    missing.push_back(end);
    end = path.rfind('/', end - 1);
  }
  for (auto end = missing.rbegin(); end != missing.rend(); ++end) {
    const located where = to_make(path.substr(0, *end));
    if (where.name == ".") continue;
    if (::mkdirat(where.directory.get(), where.name.c_str(), all_bits) != 0 && errno != EEXIST) fail_with_errno("");
  }
  if (!missing.empty()) (void)open(path, position_flags);
}

open_tree path_scope::to_fill(const std::string& path) const {
  make_directories(path);
  if (places_.empty()) return open_directory(path);
  auto end = find(path, {true, true});
  places_.check_change(end.path);
  if (end.is_protected) ruled_places::refuse_protected();
  const auto& where = end.where;
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  unique_fd opened(check_file(::openat(where.directory.get(), where.name.c_str(), flags)));
  return {std::move(opened), std::move(end.path)};
}

void path_scope::check_entry(const open_tree& of, const std::string& path) const {
  if (places_.empty()) return;
  const std::string whole = path_below(of.path, path);
  places_.check_change(whole);
  if (places_.around(whole) != places_.around(of.path))
    throw error(make_error_code(errc::permission_denied), "it is, or lies in, another writable root");
}

const std::shared_ptr<const path_scope>& whole_host() {
  static const std::shared_ptr<const path_scope> scope = std::make_shared<const path_scope>();
  return scope;
}

}  // namespace berth
