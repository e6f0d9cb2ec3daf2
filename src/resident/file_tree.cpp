/// Verbs about names: stat, list, remove, rename.
#include "resident/file_answer.hpp"
#include "resident/file_paths.hpp"
#include "resident/file_verbs.hpp"
#include "resident/file_walk.hpp"

#include <fcntl.h>
#include <stdio.h>

namespace berth::resident {
namespace {

constexpr int most_tries = 8;  // while another program makes files in what is removed

void put_entry(output& out, int directory, const char* name, std::string_view path, const struct stat& found) {
  wire::entry_fields fields;
  text target;
  if (S_ISREG(found.st_mode)) {
    fields.kind = wire::entry_kind::regular;
    fields.size = static_cast<std::uint64_t>(found.st_size);
  } else if (S_ISDIR(found.st_mode)) {
    fields.kind = wire::entry_kind::directory;
  } else if (S_ISLNK(found.st_mode)) {
    fields.kind = wire::entry_kind::symlink;
    target = link_text(directory, name);
  }
  fields.mode = found.st_mode & 07777u;
  fields.seconds = found.st_mtim.tv_sec;
  fields.nanoseconds = static_cast<std::uint32_t>(found.st_mtim.tv_nsec);
  fields.path = path;
  fields.target = target.view();
  out.record(wire::record_type::entry, fields, fields.encoded_size());
}

/// Removes what is in the directory, as far as it was there; what comes meanwhile is the next round's.
void empty_directory(file_fd top) {
  tree_walk walk(static_cast<file_fd&&>(top));
  for (;;) {
    const auto what = walk.next();
    if (what == tree_walk::step::end) return;
    if (what == tree_walk::step::entry && S_ISDIR(walk.status().st_mode)) {
      walk.enter();
    } else if (unlinkat(walk.directory(), walk.name(), what == tree_walk::step::left ? AT_REMOVEDIR : 0) != 0) {
      const bool busy = what == tree_walk::step::left ? errno == ENOTEMPTY || errno == EEXIST : errno == EISDIR;
      if (errno != ENOENT && !busy) refuse(file_reason::none, errno, walk.path());
    }
  }
}

}  // namespace

void stat_path(const char* path) {
  const file_fd seen = open_path(path, O_PATH | O_NOFOLLOW);
  struct stat found {};
  check(fstat(seen.get(), &found));
  output out;
  put_entry(out, seen.get(), "", "", found);
  out.flush();
  answer_done(out.sent());
}

void list_tree(const char* path, std::uint64_t depth) {
  tree_walk walk(open_path(path, O_RDONLY | O_DIRECTORY));
  output out;
  for (;;) {
    const auto what = walk.next();
    if (what == tree_walk::step::end) break;
    if (what != tree_walk::step::entry) continue;
    put_entry(out, walk.directory(), walk.name(), walk.path(), walk.status());
    if (S_ISDIR(walk.status().st_mode) && walk.depth() < depth) walk.enter();
  }
  out.flush();
  answer_done(out.sent());
}

void remove_path(const char* path, bool recursive) {
  const located where = parent_of(path);
  const int directory = where.directory.get();
  const char* const name = where.name.c_str();
  for (int tries = 0;; ++tries) {
    struct stat found {};
    check(fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW));
    const bool is_directory = S_ISDIR(found.st_mode);
    if (unlinkat(directory, name, is_directory ? AT_REMOVEDIR : 0) == 0) break;
    const bool is_full = is_directory && (errno == ENOTEMPTY || errno == EEXIST);
    if (!is_full || !recursive || tries == most_tries) refuse(file_reason::none, is_full ? ENOTEMPTY : errno);
    file_fd opened(openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    check(opened.get());
    empty_directory(static_cast<file_fd&&>(opened));
  }
  answer_done();
}

void rename_path(const char* from, const char* to) {
  const located source = parent_of(from);
  const located target = parent_of(to);
  if (renameat(source.directory.get(), source.name.c_str(), target.directory.get(), target.name.c_str()) != 0)
    refuse(errno == EXDEV ? file_reason::other_file_system : file_reason::none, errno);
  answer_done();
}

}  // namespace berth::resident
