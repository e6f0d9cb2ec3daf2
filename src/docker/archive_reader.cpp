#include "docker/archive_reader.hpp"

#include "berth/error.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <time.h>

#include <charconv>
#include <utility>

namespace berth {
namespace {

constexpr unsigned mode_bits = 07777;

[[noreturn]] void refuse(archive* from) {
  const char* why = ::archive_error_string(from);
  throw error(make_error_code(errc::protocol), std::string("docker: an archive of the daemon: ") + (why ? why : ""));
}

file_type type_of(archive_entry* entry) {
  if (::archive_entry_hardlink(entry) != nullptr) return file_type::other;
  switch (::archive_entry_filetype(entry)) {
    case AE_IFREG:
      return file_type::regular;
    case AE_IFDIR:
      return file_type::directory;
    case AE_IFLNK:
      return file_type::symlink;
    default:
      return file_type::other;
  }
}

std::string trimmed(const char* name) {
  std::string_view path(name != nullptr ? name : "");
  while (path.starts_with("./")) path.remove_prefix(2);
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return path == "." ? std::string() : std::string(path);
}

/// Digits of a fixed place.
int number_at(std::string_view text, std::size_t at, std::size_t digits) {
  int value = 0;
  const auto part = at + digits <= text.size() ? text.substr(at, digits) : std::string_view();
  const auto read = std::from_chars(part.data(), part.data() + part.size(), value);
  if (part.empty() || read.ec != std::errc() || read.ptr != part.data() + part.size())
    throw error(make_error_code(errc::protocol), "docker: a time that cannot be read");
  return value;
}

}  // namespace

void archive_reader::closer::operator()(archive* open) const noexcept { ::archive_read_free(open); }

archive_reader::archive_reader(std::string tar) : tar_(std::move(tar)), archive_(::archive_read_new()) {
  ::archive_read_support_format_tar(archive_.get());
  ::archive_read_support_format_empty(archive_.get());
  if (::archive_read_open_memory(archive_.get(), tar_.data(), tar_.size()) != ARCHIVE_OK) refuse(archive_.get());
}

archive_reader::~archive_reader() = default;

bool archive_reader::next(archived_entry& into) {
  archive_entry* entry = nullptr;
  const int result = ::archive_read_next_header(archive_.get(), &entry);
  if (result == ARCHIVE_EOF) return false;
  if (result < ARCHIVE_WARN) refuse(archive_.get());
  const char* path = ::archive_entry_pathname(entry);
  if (path == nullptr) throw error(make_error_code(errc::protocol), "docker: an archive with a file without a name");
  into.path = trimmed(path);
  into.type = type_of(entry);
  into.mode = static_cast<unsigned>(::archive_entry_perm(entry)) & mode_bits;
  const bool has_content = into.type == file_type::regular;
  into.size = size_ = has_content ? static_cast<std::uint64_t>(::archive_entry_size(entry)) : 0;
  const auto since =
      std::chrono::seconds(::archive_entry_mtime(entry)) + std::chrono::nanoseconds(::archive_entry_mtime_nsec(entry));
  into.modified = file_info::time_point(std::chrono::duration_cast<file_info::time_point::duration>(since));
  const char* target = ::archive_entry_symlink(entry);
  into.target = target != nullptr ? target : "";
  return true;
}

std::string archive_reader::content() {
  // What it says is its size only; the bytes are all here.
  if (size_ > tar_.size()) throw error(make_error_code(errc::protocol), "docker: a file longer than its archive");
  std::string bytes(size_, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const la_ssize_t size = ::archive_read_data(archive_.get(), bytes.data() + done, bytes.size() - done);
    if (size <= 0) refuse(archive_.get());
    done += static_cast<std::size_t>(size);
  }
  return bytes;
}

file_info::time_point read_rfc3339(std::string_view text) {
  constexpr std::size_t seconds_end = 19;  // "2026-11-30T11:22:33"
  tm parts{};
  parts.tm_year = number_at(text, 0, 4) - 1900;
  parts.tm_mon = number_at(text, 5, 2) - 1;
  parts.tm_mday = number_at(text, 8, 2);
  parts.tm_hour = number_at(text, 11, 2);
  parts.tm_min = number_at(text, 14, 2);
  parts.tm_sec = number_at(text, 17, 2);
  std::int64_t nanoseconds = 0;
  std::size_t at = seconds_end;
  if (at < text.size() && text[at] == '.') {
    std::int64_t unit = 100'000'000;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10)
      nanoseconds += (text[at] - '0') * unit;
  }
  std::int64_t offset = 0;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    offset = (number_at(text, at + 1, 2) * 60 + number_at(text, at + 4, 2)) * 60;
    if (text[at] == '-') offset = -offset;
  }
  const auto since = std::chrono::seconds(::timegm(&parts) - offset) + std::chrono::nanoseconds(nanoseconds);
  return file_info::time_point(std::chrono::duration_cast<file_info::time_point::duration>(since));
}

}  // namespace berth
