#include "os/tree_packer.hpp"

#include "core/shown_path.hpp"
#include "os/file_failure.hpp"
#include "os/file_reader.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace berth {
namespace {

constexpr std::size_t read_size = std::size_t{64} << 10;

struct entry_closer {
  void operator()(archive_entry* entry) const noexcept { ::archive_entry_free(entry); }
};

[[noreturn]] void fail(archive* with, const std::string& path) {
  const char* const words = ::archive_error_string(with);
  throw error(make_error_code(errc::internal), "pack " + shown_path(path) + ": " + (words != nullptr ? words : "?"));
}

}  // namespace

void tree_packer::archive_closer::operator()(archive* open) const noexcept { ::archive_write_free(open); }

tree_packer::tree_packer(std::shared_ptr<const path_scope> scope, const std::string& path,
                         const std::vector<std::string>& excluded)
    : tree_packer(scope, scope->open_directory(path), excluded) {}

tree_packer::tree_packer(std::shared_ptr<const path_scope> scope, open_tree top,
                         const std::vector<std::string>& excluded)
    : scope_(std::move(scope)),
      top_(std::move(top.path)),
      walk_(std::move(top.directory)),
      excluded_(excluded),
      buffer_(read_size, '\0'),
      archive_(::archive_write_new()) {
  if (!archive_) throw std::bad_alloc();
  ::archive_write_set_format_pax_restricted(archive_.get());
  ::archive_write_set_options(archive_.get(), "hdrcharset=BINARY");
  ::archive_write_set_bytes_per_block(archive_.get(), 0);
  if (::archive_write_open(archive_.get(), this, nullptr, append, nullptr) != ARCHIVE_OK) fail(archive_.get(), top_);
}

tree_packer::~tree_packer() { dropped_ = true; }

long tree_packer::append(archive*, void* self, const void* bytes, std::size_t size) {
  auto& packer = *static_cast<tree_packer*>(self);
  if (packer.dropped_) return -1;  // or libarchive would fill up the file that it is in
  packer.ready_.append(static_cast<const char*>(bytes), size);
  return static_cast<long>(size);
}

std::string tree_packer::next() {
  while (!ended_ && ready_.size() < piece_size) step();
  return std::exchange(ready_, {});
}

void tree_packer::step() {
  if (file_) return continue_file();
  const walked_entry* const entry = walk_.next();
  if (entry == nullptr) return close();
  if (!excluded_.empty() && excluded_.match(entry->path, S_ISDIR(entry->status.st_mode))) return;
  begin_entry(*entry);
}

void tree_packer::begin_entry(const walked_entry& entry) {
  const mode_t type = entry.status.st_mode & S_IFMT;
  if (type != S_IFREG && type != S_IFDIR && type != S_IFLNK) return progress_.skip(entry.path);
  constexpr mode_t permission_bits = 07777;
  const std::unique_ptr<archive_entry, entry_closer> header(::archive_entry_new());
  if (!header) throw std::bad_alloc();
  ::archive_entry_set_filetype(header.get(), type);
  ::archive_entry_set_perm(header.get(), entry.status.st_mode & permission_bits);
  ::archive_entry_set_mtime(header.get(), entry.status.st_mtim.tv_sec, 0);
  ::archive_entry_set_size(header.get(), 0);
  ::archive_entry_copy_pathname(header.get(), (type == S_IFDIR ? entry.path + "/" : entry.path).c_str());
  if (type == S_IFLNK) {
    const auto info = info_of(entry.directory, entry.name, entry.path, entry.status);
    ::archive_entry_copy_symlink(header.get(), info.link_target().c_str());
  } else if (type == S_IFREG) {
    file_.reset(
        ::openat(entry.directory, entry.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file_ && errno == ENOENT) return;
    struct stat opened {};
    if (!file_ || ::fstat(file_.get(), &opened) != 0) throw file_failure(errno, shown_path(entry.path));
    if (!S_ISREG(opened.st_mode)) return file_.reset();
    file_left_ = static_cast<std::uint64_t>(opened.st_size);
    file_path_ = entry.path;
    ::archive_entry_set_size(header.get(), opened.st_size);
  }
  write_header(header.get(), entry.path);
  progress_.add(1, 0);
  if (type == S_IFDIR) walk_.enter(scope_->seen_at(path_below(top_, entry.path)));
}

void tree_packer::write_header(archive_entry* header, const std::string& path) {
  const int result = ::archive_write_header(archive_.get(), header);
  // A warning here is about the spelling of a name, which goes through as it is.
  if (result != ARCHIVE_OK && result != ARCHIVE_WARN) fail(archive_.get(), path);
}

void tree_packer::continue_file() {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(file_left_, buffer_.size()));
  const auto got = wanted == 0 ? 0 : ::read(file_.get(), buffer_.data(), wanted);
  if (got < 0 && errno == EINTR) return;
  if (got < 0) throw file_failure(errno, shown_path(file_path_));
  if (got == 0 && file_left_ > 0)
    throw error(make_error_code(errc::conflict), shown_path(file_path_) + " became shorter while it was read");
  const auto size = static_cast<std::size_t>(got);
  if (size > 0 && ::archive_write_data(archive_.get(), buffer_.data(), size) != got) fail(archive_.get(), file_path_);
  progress_.add(0, size);
  file_left_ -= size;
  if (file_left_ == 0) file_.reset();
}

void tree_packer::close() {
  ended_ = true;
  if (::archive_write_close(archive_.get()) != ARCHIVE_OK) fail(archive_.get(), "");
}

}  // namespace berth
