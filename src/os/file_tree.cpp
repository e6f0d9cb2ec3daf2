#include "os/file_tree.hpp"

#include "core/shown_path.hpp"
#include "os/file_failure.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace berth {
namespace {

using clock = std::chrono::steady_clock;

constexpr int most_tries = 8;  // while another program makes files in what is removed

unique_fd open_directory(const located& where) {
  return unique_fd(
      ::openat(where.directory.get(), where.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

}  // namespace

tree_listing::tree_listing(std::shared_ptr<const path_scope> scope, const std::string& path, std::size_t depth)
    : tree_listing(scope, scope->open_directory(path), depth) {}

tree_listing::tree_listing(std::shared_ptr<const path_scope> scope, open_tree top, std::size_t depth)
    : scope_(std::move(scope)), top_(std::move(top.path)), walk_(std::move(top.directory)), depth_(depth) {}

bool tree_listing::step() {
  const auto until = clock::now() + slice;
  while (clock::now() < until) {
    const walked_entry* const entry = walk_.next();
    if (entry == nullptr) return false;
    found_.push_back(info_of(entry->directory, entry->name, entry->path, entry->status));
    if (S_ISDIR(entry->status.st_mode) && walk_.depth() < depth_)
      walk_.enter(scope_->seen_at(path_below(top_, entry->path)));
  }
  return true;
}

/// A walk that removes what it passes.
class tree_removal::emptying final : public directory_walk {
 public:
  using directory_walk::directory_walk;

  void finished(int parent, const std::string& name, const std::string& path, int /*itself*/) override {
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return;
    if (errno == ENOTEMPTY || errno == EEXIST) return;  // something new in it: the next round
    throw file_failure(errno, shown_path(path));
  }

  /// False at the end.
  bool remove_next() {
    const walked_entry* const entry = next();
    if (entry == nullptr) return false;
    if (S_ISDIR(entry->status.st_mode)) {
      enter();
    } else if (::unlinkat(entry->directory, entry->name.c_str(), 0) != 0 && errno != ENOENT && errno != EISDIR) {
      throw file_failure(errno, shown_path(entry->path));
    }
    return true;
  }
};

tree_removal::tree_removal(const path_scope& scope, const std::string& path, bool recursive)
    : where_(scope.to_move(path)), recursive_(recursive) {}

tree_removal::~tree_removal() = default;

bool tree_removal::step() {
  if (!emptying_) {
    remove_itself();
    return emptying_ != nullptr;
  }
  const auto until = clock::now() + slice;
  while (clock::now() < until) {
    if (emptying_->remove_next()) continue;
    emptying_.reset();
    break;
  }
  return true;
}

/// Removes the name, or begins with what is in the way.
void tree_removal::remove_itself() {
  const int directory = where_.directory.get();
  struct stat found {};
  check_file(::fstatat(directory, where_.name.c_str(), &found, AT_SYMLINK_NOFOLLOW));
  const bool is_directory = S_ISDIR(found.st_mode);
  if (::unlinkat(directory, where_.name.c_str(), is_directory ? AT_REMOVEDIR : 0) == 0) return;
  const bool is_full = is_directory && (errno == ENOTEMPTY || errno == EEXIST);
  if (!is_full || !recursive_ || ++tries_ > most_tries) throw file_failure(is_full ? ENOTEMPTY : errno);
  unique_fd opened = open_directory(where_);
  check_file(opened.get());
  emptying_ = std::make_unique<emptying>(std::move(opened));
}

file_info stat_file(const path_scope& scope, const std::string& path) {
  const unique_fd seen = scope.open(path, O_PATH | O_NOFOLLOW);
  struct stat found {};
  check_file(::fstat(seen.get(), &found));
  return info_of(seen.get(), "", path, found);
}

void rename_file(const path_scope& scope, const std::string& from, const std::string& to) {
  const located source = scope.to_move(from);
  const located target = scope.to_move(to);
  if (::renameat(source.directory.get(), source.name.c_str(), target.directory.get(), target.name.c_str()) == 0) return;
  if (errno == EXDEV) throw error(make_error_code(errc::unsupported), "from one file system to another");
  fail_with_errno("");
}

}  // namespace berth
