#include "isolation/home.hpp"

#include "core/paths.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace berth {

namespace {

std::string home_of_variable() {
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? home : "";
}

std::string home_of_database() {
  constexpr std::size_t enough = 16384;
  std::vector<char> texts(enough);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, texts.data(), texts.size(), &found) != 0 || found == nullptr) return {};
  return found->pw_dir != nullptr && *found->pw_dir == '/' ? found->pw_dir : "";
}

bool holds(const std::string& root, const std::string& home) {
  if (home.empty()) return false;
  std::error_code code;
  const std::filesystem::path real = std::filesystem::canonical(home, code);
  return is_at_or_below(home, root) || (!code && is_at_or_below(real.string(), root));
}

}  // namespace

std::string home_directory() {
  std::string home = home_of_variable();
  return home.empty() ? home_of_database() : home;
}

bool is_wide_root(const std::string& root) {
  return root == "/" || holds(root, home_of_variable()) || holds(root, home_of_database());
}

}  // namespace berth
