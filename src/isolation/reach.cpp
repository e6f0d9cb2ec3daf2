#include "isolation/reach.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace berth {
namespace {

/// Root is asked by the mode, since it may go anywhere here. An access list may let in whom the mode keeps out.
bool keeps_out(const std::string& directory, const struct stat& about) {
  if (about.st_uid == ::geteuid()) return false;
  if (::geteuid() != 0) return ::faccessat(AT_FDCWD, directory.c_str(), X_OK, AT_EACCESS) != 0 && errno == EACCES;
  const mode_t bit = is_in_group(about.st_gid) ? S_IXGRP : S_IXOTH;
  return (about.st_mode & bit) == 0 && ::getxattr(directory.c_str(), "system.posix_acl_access", nullptr, 0) < 0;
}

}  // namespace

bool is_in_group(gid_t group) {
  if (group == ::getegid()) return true;
  const int count = ::getgroups(0, nullptr);
  std::vector<gid_t> all(static_cast<std::size_t>(std::max(count, 0)));
  if (::getgroups(count, all.data()) != count) return false;
  return std::find(all.begin(), all.end(), group) != all.end();
}

bool is_barred(const std::string& path) {
  for (auto end = path.find('/', 1); end != path.npos; end = path.find('/', end + 1)) {
    const std::string directory = path.substr(0, end);
    struct stat about {};
    if (::stat(directory.c_str(), &about) != 0) return false;
    if (keeps_out(directory, about)) return true;
  }
  return false;
}

}  // namespace berth
