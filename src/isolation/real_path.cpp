#include "isolation/real_path.hpp"

#include "berth/error.hpp"
#include "core/shown_path.hpp"
#include "isolation/reach.hpp"
#include "os/file_failure.hpp"

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>

namespace berth {

bool means_missing(int code) noexcept { return code == ENOENT || code == ENOTDIR; }

void fail_to_look(const std::string& path, int code) {
  const char* const cure = code == EACCES ? " (let this user into the directories above it again: chmod u+rwx)"
                                          : " (remove it, or mend what is above it)";
  throw error(file_failure(code).code(), shown_path(path) + " cannot be looked at, so it cannot be protected: " +
                                             std::system_category().message(code) + cure);
}

std::optional<std::string> real_path_if_there(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  if (real) return std::string(real.get());
  const int code = errno;
  if (means_missing(code) || (code == EACCES && is_barred(path))) return std::nullopt;
  fail_to_look(path, code);
}

}  // namespace berth
