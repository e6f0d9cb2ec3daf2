#include "berth/error.hpp"
#include "docker/container.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <sys/stat.h>

#include <memory>

namespace berth {
namespace {

bool add(archive* writer, const tar_entry& what) {
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(::archive_entry_new(), ::archive_entry_free);
  ::archive_entry_set_pathname(entry.get(), what.path.c_str());
  ::archive_entry_set_size(entry.get(), static_cast<la_int64_t>(what.content.size()));
  ::archive_entry_set_filetype(entry.get(), what.is_directory ? S_IFDIR : S_IFREG);
  if (!what.link_target.empty()) {
    ::archive_entry_set_filetype(entry.get(), S_IFLNK);
    ::archive_entry_set_symlink(entry.get(), what.link_target.c_str());
  }
  ::archive_entry_set_perm(entry.get(), what.mode);
  ::archive_entry_set_uid(entry.get(), what.user);
  ::archive_entry_set_gid(entry.get(), what.group);
  ::archive_entry_set_mtime(entry.get(), what.modified, 0);
  const auto size = static_cast<la_ssize_t>(what.content.size());
  return ::archive_write_header(writer, entry.get()) == ARCHIVE_OK &&
         (size == 0 || ::archive_write_data(writer, what.content.data(), what.content.size()) == size);
}

}  // namespace

std::string tar_of(const std::vector<tar_entry>& entries) {
  constexpr std::size_t room_for_heads = 16384;
  constexpr std::size_t room_for_one = 8192;
  const std::unique_ptr<archive, int (*)(archive*)> writer(::archive_write_new(), ::archive_write_free);
  std::size_t room = room_for_heads;
  for (const tar_entry& each : entries)
    room += each.content.size() + (each.path.size() + each.link_target.size()) * 2 + room_for_one;
  std::string tar(room, '\0');
  std::size_t used = 0;
  // ustar, and what it has no room for as pax records; names are bytes.
  bool good = ::archive_write_set_format_pax_restricted(writer.get()) == ARCHIVE_OK &&
              ::archive_write_set_options(writer.get(), "hdrcharset=BINARY") == ARCHIVE_OK &&
              ::archive_write_open_memory(writer.get(), tar.data(), tar.size(), &used) == ARCHIVE_OK;
  for (const tar_entry& each : entries) good = good && add(writer.get(), each);
  if (!good || ::archive_write_close(writer.get()) != ARCHIVE_OK) {
    const char* why = ::archive_error_string(writer.get());
    throw error(make_error_code(errc::internal), std::string("a tar: ") + (why != nullptr ? why : ""));
  }
  tar.resize(used);
  return tar;
}

std::string tar_of_file(const std::string& name, const std::string& content, unsigned mode) {
  tar_entry one;
  one.path = name;
  one.content = content;
  one.mode = mode;
  std::vector<tar_entry> all;
  all.push_back(std::move(one));
  return tar_of(all);
}

}  // namespace berth
