/// A directory as a tar stream.
#include "resident/file_answer.hpp"
#include "resident/file_paths.hpp"
#include "resident/file_verbs.hpp"
#include "resident/file_walk.hpp"
#include "resident/tar.hpp"
#include "wire/path_pattern.hpp"

#include <fcntl.h>

namespace berth::resident {
namespace {

constexpr std::size_t read_size = 128u << 10;

class patterns {
 public:
  patterns(char** words, int count) {
    for (int i = 0; i < count; ++i) {
      wire::path_pattern one;
      if (!one.set(words[i])) refuse(file_reason::request, 0);
      if (one.scratch_size() > scratch_.size()) scratch_.resize(one.scratch_size());
      all_.push(static_cast<wire::path_pattern&&>(one));
    }
  }
  bool match(std::string_view path, bool is_directory) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].match(path, is_directory, scratch_.data())) return true;
    }
    return false;
  }

 private:
  row<wire::path_pattern> all_;
  text scratch_;
};

class packing {
 public:
  packing(const char* path, char** words, int count)
      : walk_(open_path(path, O_RDONLY | O_DIRECTORY)), excluded_(words, count) {}

  std::uint64_t run() {
    for (;;) {
      const auto what = walk_.next();
      if (what == tree_walk::step::end) break;
      const bool is_directory = S_ISDIR(walk_.status().st_mode);
      if (what == tree_walk::step::entry && !excluded_.match(walk_.path(), is_directory)) put_entry();
      if (out_.is_full()) out_.flush();
    }
    put_tar_end(out_.raw());
    out_.flush();
    return out_.sent();
  }

 private:
  void put_entry() {
    const struct stat& status = walk_.status();
    tar_entry entry;
    const text path(walk_.path());
    entry.path = path.c_str();
    entry.mode = status.st_mode & 07777u;
    entry.seconds = status.st_mtim.tv_sec;
    if (S_ISDIR(status.st_mode)) return put_directory(entry);
    if (S_ISREG(status.st_mode)) return put_file(entry);
    if (!S_ISLNK(status.st_mode)) return answer_skipped(walk_.path());
    const text target = link_text(walk_.directory(), walk_.name());
    entry.what = tar_entry::symlink;
    entry.link = target.c_str();
    put_tar_header(out_.raw(), entry);
  }

  void put_directory(tar_entry& entry) {
    text path(walk_.path());
    path.append("/");
    entry.path = path.c_str();
    entry.what = tar_entry::directory;
    put_tar_header(out_.raw(), entry);
    walk_.enter();
  }

  void put_file(tar_entry& entry) {
    const file_fd file(
        openat(walk_.directory(), walk_.name(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file && errno == ENOENT) return;
    check(file.get(), file_reason::none, walk_.path());
    struct stat opened {};
    check(fstat(file.get(), &opened), file_reason::none, walk_.path());
    if (!S_ISREG(opened.st_mode)) return;
    entry.size = static_cast<std::uint64_t>(opened.st_size);
    put_tar_header(out_.raw(), entry);
    for (std::uint64_t left = entry.size; left > 0;) {
      const std::size_t wanted = left < read_size ? static_cast<std::size_t>(left) : read_size;
      const ssize_t got = read(file.get(), out_.raw().reserve(wanted), wanted);
      if (got < 0 && errno == EINTR) continue;
      if (check(got, file_reason::none, walk_.path()) == 0) refuse(file_reason::shorter, 0, walk_.path());
      out_.raw().commit(static_cast<std::size_t>(got));
      left -= static_cast<std::uint64_t>(got);
      if (out_.is_full()) out_.flush();
    }
    const char zeros[tar_block] = {};
    out_.bytes({zeros, tar_padding(entry.size)});
  }

  tree_walk walk_;
  patterns excluded_;
  output out_;
};

}  // namespace

void pack_tree(const char* path, char** patterns, int count) {
  packing work(path, patterns, count);
  answer_done(work.run());
}

}  // namespace berth::resident
