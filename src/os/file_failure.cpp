#include "os/file_failure.hpp"

#include <cerrno>
#include <system_error>

namespace berth {
namespace {

std::error_code code_of(int value) {
  switch (value) {
    case ENOENT:
      return errc::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
    case EXDEV:  // a way out of where we may go; rename says it for itself
      return errc::permission_denied;
    case EEXIST:
      return errc::already_exists;
    case ENOTDIR:
      return errc::not_a_directory;
    case EISDIR:
      return errc::is_a_directory;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return errc::resource_exhausted;
    case EFBIG:
    case EOVERFLOW:
      return errc::limit_exceeded;
    case ENOTEMPTY:
    case EBUSY:
    case ETXTBSY:
    case ESTALE:
      return errc::conflict;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return errc::invalid_argument;
    case EOPNOTSUPP:
    case ENOSYS:
    case ENXIO:
    case ENODEV:
      return errc::unsupported;
    default:
      return {value, std::system_category()};
  }
}

/// Is all that the system would say in the name of our code?
bool says_the_same(int value) {
  for (const int each : {ENOENT, EACCES, EEXIST, ENOTDIR, EISDIR, EINVAL}) {
    if (value == each) return true;
  }
  return false;
}

}  // namespace

error file_failure(int code, const std::string& step) {
  if (says_the_same(code)) return {code_of(code), step};
  const std::string words = std::system_category().message(code);
  return {code_of(code), step.empty() ? words : step + ": " + words};
}

void fail_with_errno(const char* step) {
  const int code = errno;
  throw file_failure(code, step);
}

}  // namespace berth
