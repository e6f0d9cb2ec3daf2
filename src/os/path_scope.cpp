#include "os/path_scope.hpp"

#include "os/file_failure.hpp"
#include "os/open_beneath.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace berth {
namespace {

constexpr int most_links = 40;  // as the kernel
constexpr int position_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

/// Is the path the directory, or below it?
bool is_below(std::string_view path, std::string_view directory) noexcept {
  if (directory == "/") return path.starts_with('/');
  if (!path.starts_with(directory)) return false;
  return path.size() == directory.size() || path[directory.size()] == '/';
}

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

std::string read_link(int fd) {
  std::string target(PATH_MAX, '\0');
  const auto size = check_file(::readlinkat(fd, "", target.data(), target.size()));
  target.resize(static_cast<std::size_t>(size));
  return target;
}

/// Links of /proc to open files lead where no path does. Those that are plain text (self, mounts) are fine.
void refuse_magic_link(int fd, const std::string& target) {
  struct statfs where {};
  if (::fstatfs(fd, &where) != 0 || where.f_type != PROC_SUPER_MAGIC) return;
  const bool plain = !target.starts_with('/') && target.find(":[") == target.npos;
  if (!plain) throw file_failure(ELOOP);
}

unique_fd duplicate(const unique_fd& fd) { return unique_fd(check_file(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0))); }

}  // namespace

/// One walk from "/" by hand: every component is opened in its parent, links are read and their text is walked, and `..` goes back to
/// what was open before, so that a directory that is moved meanwhile leads nowhere else.
class path_scope::walk {
 public:
  /// What becomes of the last component: it may be followed where it is a link, and entered where it is a directory.
  struct ending {
    bool follow;
    bool enter;
  };

  walk(const path_scope& scope, ending last) : scope_(scope), last_(last) {
    stack_.push_back({"", unique_fd(check_file(::open("/", position_flags)))});
    enter_root();
  }

  located run(const std::string& path) {
    push(path);
    while (!pending_.empty()) {
      const std::string name = std::move(pending_.back());
      pending_.pop_back();
      if (name == "..") {
        if (stack_.size() > 1) stack_.pop_back();
      } else if (name != ".") {
        const bool last = pending_.empty();
        const bool only_named = last && !last_.follow && !last_.enter;
        if (only_named || step(name, last)) return end_at(name);
      }
    }
    return end_at(".");
  }

 private:
  struct position {
    std::string name;
    unique_fd fd;
  };

  void push(std::string_view path) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < path.size();) {
      const auto end = std::min(path.find('/', at), path.size());
      if (end > at) parts.emplace_back(path.substr(at, end - at));
      at = end + 1;
    }
    pending_.insert(pending_.end(), std::make_move_iterator(parts.rbegin()), std::make_move_iterator(parts.rend()));
  }

  /// Goes one component on; true if the walk ends before it.
  bool step(const std::string& name, bool last) {
    unique_fd fd(::openat(stack_.back().fd.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!fd && errno == ENOENT && last) return true;
    check_file(fd.get());
    struct stat found {};
    check_file(::fstat(fd.get(), &found));
    if (S_ISLNK(found.st_mode)) {
      if (last && !last_.follow) return true;
      follow(fd.get());
      return false;
    }
    if (last && !(last_.enter && S_ISDIR(found.st_mode))) return true;
    if (!S_ISDIR(found.st_mode)) throw file_failure(ENOTDIR);
    stack_.push_back({name, std::move(fd)});
    enter_root();
    return false;
  }

  void follow(int link) {
    if (++links_ > most_links) throw file_failure(ELOOP);
    const std::string target = read_link(link);
    refuse_magic_link(link, target);
    if (target.empty()) throw file_failure(ENOENT);
    if (target.front() == '/') stack_.resize(1);
    push(target);
  }

  std::string here() const {
    std::string path;
    for (std::size_t i = 1; i < stack_.size(); ++i) path += "/" + stack_[i].name;
    return path.empty() ? "/" : path;
  }

  /// Where the path of a root is reached, the walk goes on in the directory that had the path first.
  void enter_root() {
    if (scope_.roots_.back().path == "/" && scope_.roots_.size() == 1) return;
    const std::string at = here();
    for (const root& each : scope_.roots_) {
      if (each.fd && each.path == at) stack_.back().fd = duplicate(each.fd);
    }
  }

  located end_at(const std::string& name) {
    if (scope_.root_of(here()) == nullptr) throw file_failure(EXDEV, "outside of where files may be touched");
    return {std::move(stack_.back().fd), name};
  }

  const path_scope& scope_;
  const ending last_;
  std::vector<position> stack_;
  std::vector<std::string> pending_;  // the next one last
  int links_ = 0;
};

path_scope::path_scope() : path_scope(std::vector<std::string>(1, "/")) {}

path_scope::path_scope(const std::vector<std::string>& roots, path_walking walking) : walking_(walking) {
  for (const auto& path : roots) {
    root one{path, unique_fd()};
    if (path != "/") one.fd.reset(check_file(::open(path.c_str(), position_flags), path.c_str()));
    roots_.push_back(std::move(one));
  }
  const auto longer = [](const root& left, const root& right) { return left.path.size() > right.path.size(); };
  std::sort(roots_.begin(), roots_.end(), longer);
}

const path_scope::root* path_scope::root_of(std::string_view path) const noexcept {
  for (const root& each : roots_) {
    if (is_below(path, each.path)) return &each;
  }
  return nullptr;
}

/// 0, an errno, or EXDEV where a walk by hand must decide: absolute links, ways through other places, old kernels.
int path_scope::open_by_kernel(const std::string& path, int flags, unique_fd& opened) const {
  const root* const from = walking_ == path_walking::by_kernel ? root_of(path) : nullptr;
  if (from == nullptr) return EXDEV;
  if (from->path == "/") {
    opened = open_anywhere(path.c_str(), flags);
    return opened ? 0 : undecided(errno);
  }
  auto rest = path.substr(std::min(path.size(), from->path.size()));
  rest.erase(0, std::min(rest.find_first_not_of('/'), rest.size()));
  opened = open_beneath(from->fd.get(), rest.empty() ? "." : rest.c_str(), flags);
  return opened ? 0 : undecided(errno);
}

unique_fd path_scope::open(const std::string& path, int flags) const {
  unique_fd opened;
  const int code = open_by_kernel(path, flags, opened);
  if (code == 0) return opened;
  if (code != EXDEV) throw file_failure(code);
  const located end = walk(*this, {(flags & O_NOFOLLOW) == 0, true}).run(path);
  const int more = path.ends_with('/') ? O_DIRECTORY : 0;
  return unique_fd(check_file(::openat(end.directory.get(), end.name.c_str(), flags | more | O_NOFOLLOW | O_CLOEXEC)));
}

located path_scope::parent_of(const std::string& path) const {
  auto [directory, name] = split_last(path);
  if (name.empty()) return {open(path, position_flags), "."};
  unique_fd opened;
  const int code = open_by_kernel(directory, position_flags, opened);
  if (code == 0) return {std::move(opened), std::move(name)};
  if (code != EXDEV) throw file_failure(code);
  return walk(*this, {false, false}).run(path);
}

located path_scope::target_of(const std::string& path) const {
  located end = parent_of(path);
  struct stat found {};
  const bool is_link =
      ::fstatat(end.directory.get(), end.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(found.st_mode);
  return is_link ? walk(*this, {true, false}).run(path) : std::move(end);
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
    const located where = parent_of(path.substr(0, *end));
    if (where.name == ".") continue;
    if (::mkdirat(where.directory.get(), where.name.c_str(), all_bits) != 0 && errno != EEXIST) fail_with_errno("");
  }
  if (!missing.empty()) (void)open(path, position_flags);
}

const std::shared_ptr<const path_scope>& whole_host() {
  static const std::shared_ptr<const path_scope> scope = std::make_shared<const path_scope>();
  return scope;
}

}  // namespace berth
