#include "os/scratch_directory.hpp"

#include "berth/error.hpp"
#include "core/shown_path.hpp"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace berth {

scratch_directory::scratch_directory(std::string_view prefix)
    : path_((std::filesystem::temp_directory_path() / prefix).string() + "-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) {
    const std::error_code failed(errno, std::system_category());
    throw error(failed, "a directory for a while: " + shown_path(path_));
  }
}

scratch_directory::~scratch_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace berth
