#include "berth/isolation.hpp"

#include "berth/denial.hpp"
#include "berth/error.hpp"

namespace berth {

std::string_view to_string(denied_kind kind) noexcept {
  switch (kind) {
    case denied_kind::write:
      return "write";
    case denied_kind::tmp:
      return "tmp";
    case denied_kind::unix_socket:
      return "unix_socket";
    case denied_kind::network:
      break;
  }
  return "network";
}

namespace {

void check_paths(const std::vector<std::string>& paths, const std::string& field) {
  for (const std::string& path : paths) {
    if (path.empty()) throw error(make_error_code(errc::invalid_argument), field + ": an empty path");
    if (path.find('\0') != path.npos) throw error(make_error_code(errc::invalid_argument), field + ": a NUL in a path");
  }
}

}  // namespace

void isolation_settings::validate() const {
  check_paths(writable_roots_, "isolation.writable_roots");
  check_paths(protected_paths_, "isolation.protected_paths");
}

}  // namespace berth
