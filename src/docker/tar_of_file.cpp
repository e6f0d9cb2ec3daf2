#include "berth/error.hpp"
#include "docker/container.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <sys/stat.h>

#include <memory>

namespace berth {

std::string tar_of_file(const std::string& name, const std::string& content, unsigned mode) {
  constexpr std::size_t room_for_heads = 16384;
  const std::unique_ptr<archive, int (*)(archive*)> writer(::archive_write_new(), ::archive_write_free);
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(::archive_entry_new(), ::archive_entry_free);
  std::string tar(content.size() + room_for_heads, '\0');
  std::size_t used = 0;
  ::archive_entry_set_pathname(entry.get(), name.c_str());
  ::archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  ::archive_entry_set_filetype(entry.get(), S_IFREG);
  ::archive_entry_set_perm(entry.get(), mode);
  const bool good =
      ::archive_write_set_format_ustar(writer.get()) == ARCHIVE_OK &&
      ::archive_write_open_memory(writer.get(), tar.data(), tar.size(), &used) == ARCHIVE_OK &&
      ::archive_write_header(writer.get(), entry.get()) == ARCHIVE_OK &&
      ::archive_write_data(writer.get(), content.data(), content.size()) == static_cast<la_ssize_t>(content.size()) &&
      ::archive_write_close(writer.get()) == ARCHIVE_OK;
  if (!good) {
    const char* why = ::archive_error_string(writer.get());
    throw error(make_error_code(errc::internal), std::string("a tar of one file: ") + (why != nullptr ? why : ""));
  }
  tar.resize(used);
  return tar;
}

}  // namespace berth
