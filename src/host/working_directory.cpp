#include "host/working_directory.hpp"

#include "berth/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace berth {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, std::error_code code) {
  if (code == std::errc::permission_denied || code == std::errc::operation_not_permitted)
    code = errc::permission_denied;
  if (code == std::errc::not_a_directory || code == std::errc::file_exists) code = errc::not_a_directory;
  throw error(code, path.empty() ? "working directory: the caller's own" : "working directory '" + path + "'");
}

}  // namespace

std::string make_working_directory(const std::string& path) {
  if (path.find('\0') != path.npos)
    throw error(make_error_code(errc::invalid_argument), "working directory: a NUL in the path");
  std::error_code code;
  const fs::path wanted = path.empty() ? fs::current_path(code) : fs::path(path);
  if (code) fail(path, code);
  fs::create_directories(wanted, code);
  if (code) fail(path, code);
  const fs::path real = fs::canonical(wanted, code);
  if (code) fail(path, code);
  if (!fs::is_directory(real, code)) fail(path, std::make_error_code(std::errc::not_a_directory));
  if (::faccessat(AT_FDCWD, real.c_str(), X_OK, AT_EACCESS) != 0)
    fail(path, std::error_code(errno, std::generic_category()));
  return real.string();
}

}  // namespace berth
