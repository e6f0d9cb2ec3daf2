#pragma once
/// Variables, files and sockets as a test wants them.

#include "docker/surroundings.hpp"

#include <map>
#include <set>
#include <string>

namespace berth::test {

struct fake_surroundings {
  std::map<std::string, std::string> variables = {};
  std::map<std::string, std::string> files = {};
  std::set<std::string> sockets = {};

  /// Refers to this.
  docker_surroundings view() const {
    docker_surroundings made;
    made.variable = [this](const char* name) { return find(variables, name); };
    made.file = [this](const std::string& path) { return find(files, path); };
    made.has_socket = [this](const std::string& path) { return sockets.count(path) > 0; };
    made.home = "/home/u";
    made.user = 1000;
    return made;
  }

 private:
  static std::optional<std::string> find(const std::map<std::string, std::string>& in, const std::string& name) {
    const auto at = in.find(name);
    return at == in.end() ? std::nullopt : std::optional(at->second);
  }
};

}  // namespace berth::test
