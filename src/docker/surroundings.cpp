#include "docker/surroundings.hpp"

#include "os/whole_file.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>
#include <vector>

namespace berth {
namespace {

std::optional<std::string> variable_of_process(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<std::string> text_of_file(const std::string& path) {
  constexpr std::size_t most = std::size_t{4} << 20;
  try {
    return whole_file(path, most);
  } catch (const std::system_error& failure) {
    const bool missing =
        failure.code() == std::errc::no_such_file_or_directory || failure.code() == std::errc::not_a_directory;
    if (!missing) throw;
    return std::nullopt;
  }
}

bool is_socket(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode);
}

std::string home_of_user() {
  if (const auto home = variable_of_process("HOME")) return *home;
  std::vector<char> space(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, space.data(), space.size(), &found) != 0 || found == nullptr) return {};
  return found->pw_dir;
}

}  // namespace

std::string docker_surroundings::config_directory() const {
  if (const auto given = variable("DOCKER_CONFIG")) return *given;
  return home + "/.docker";
}

docker_surroundings real_docker_surroundings() {
  docker_surroundings real;
  real.variable = variable_of_process;
  real.file = text_of_file;
  real.has_socket = is_socket;
  real.home = home_of_user();
  real.user = ::geteuid();
  return real;
}

}  // namespace berth
