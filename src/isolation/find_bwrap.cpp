#include "isolation/find_bwrap.hpp"

#include "berth/error.hpp"
#include "isolation/paths.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace berth {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders() {
  std::vector<std::string> all;
  const char* value = std::getenv("PATH");
  const std::string_view path = value != nullptr ? value : "";
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    if (path.substr(at, end - at).starts_with('/')) all.emplace_back(path.substr(at, end - at));
    at = end + 1;
  }
  all.insert(all.end(), {"/usr/bin", "/usr/local/bin", "/bin"});
  return all;
}

bool may_be_run(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return false;
  const bool is_trusted = about.st_uid == 0 || about.st_uid == ::geteuid();
  return is_trusted && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0 && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string find_bwrap(std::vector<std::string> roots) {
  // Where all may be written no program is out of reach, that of this process neither.
  std::erase(roots, "/");
  for (const std::string& folder : folders()) {
    std::error_code code;
    const fs::path real = fs::canonical(folder + "/bwrap", code);
    if (code || directory_of(real.string(), roots) != nullptr || directory_of(folder, roots) != nullptr) continue;
    if (may_be_run(real.string())) return real.string();
  }
  throw error(make_error_code(errc::not_found),
              "bwrap is not installed outside of the writable roots (install bubblewrap)");
}

}  // namespace berth
