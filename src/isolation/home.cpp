#include "isolation/home.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace berth {

std::string home_directory() {
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return home;
  constexpr std::size_t enough = 16384;
  std::vector<char> texts(enough);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, texts.data(), texts.size(), &found) != 0 || found == nullptr) return {};
  return found->pw_dir != nullptr && *found->pw_dir == '/' ? found->pw_dir : "";
}

}  // namespace berth
