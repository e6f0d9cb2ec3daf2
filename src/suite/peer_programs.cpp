#include "suite/peer_programs.hpp"

#include "bench/curve.hpp"
#include "core/json.hpp"
#include "os/whole_file.hpp"
#include "suite/floor.hpp"

#include <berth/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

namespace berth::suite {
namespace {

namespace fs = std::filesystem;

constexpr const char* list_name = "peers.json";

std::vector<std::string> texts_of(const json& list) {
  std::vector<std::string> texts;
  for (const auto& each : list.as_array()) texts.push_back(each.as_string());
  return texts;
}

bool can_run(const fs::path& path) {
  std::error_code failure;
  return fs::is_regular_file(path, failure) && ::access(path.c_str(), X_OK) == 0;
}

bool is_on_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (can_run(fs::path(folder) / program)) return true;
  }
  return false;
}

std::string lacking(const peer_program& what, const std::vector<std::string>& needs,
                    const std::vector<std::string>& programs) {
  const auto& program = what.run.front();
  if (program.find('/') == std::string::npos) {
    if (!is_on_path(program)) return "there is no " + program + " on the PATH";
  } else if (!can_run(fs::path(what.folder) / program)) {
    return "there is no " + (fs::path(what.folder) / program).lexically_normal().string();
  }
  for (const auto& each : programs) {
    if (!is_on_path(each)) return "there is no " + each + " on the PATH";
  }
  for (const auto& each : needs) {
    if (!fs::exists(fs::path(what.folder) / each)) return "there is no " + (fs::path(what.folder) / each).string();
  }
  return "";
}

/// It stands in tables, behind the name of a bench.
void require_name(const std::string& name) {
  const bool is_plain =
      std::all_of(name.begin(), name.end(), [](unsigned char each) { return each > ' ' && each < 0x7f; });
  if (name.empty() || !is_plain) throw error(errc::protocol, "a peer's name is of ASCII characters without blanks");
  if (bench::curve_point_of("x/" + name)) throw error(errc::protocol, name + ": a peer's name ends in no number");
}

peer_program program_of(const std::string& folder, const std::string& name, const json& members) {
  require_name(name);
  peer_program read{.name = name, .folder = folder, .run = texts_of(members.at("run"))};
  if (read.run.empty() || read.run.front().empty()) throw error(errc::protocol, name + ": run is empty");
  for (const auto& [bench, bar] : members.at("does").as_object()) {
    read.works.push_back({.bench = bench, .bar = bar.as_double()});
  }
  const auto listed = [&members](const char* list) {
    return members[list].is_null() ? std::vector<std::string>() : texts_of(members[list]);
  };
  read.lacks = lacking(read, listed("needs"), listed("programs"));
  return read;
}

}  // namespace

std::vector<peer_program> peers_in(const std::string& folder) {
  const auto whole = fs::absolute(folder).lexically_normal();
  const json list = json::parse(whole_file((whole / list_name).string()));
  std::vector<peer_program> all;
  for (const auto& [name, members] : list.as_object()) all.push_back(program_of(whole.string(), name, members));
  return all;
}

std::vector<std::string> own_peers_folders() {
  const auto beside = fs::path(own_path()).parent_path();
  std::vector<std::string> all;
  // Installed; then of a build folder such as build/release: what ./dev bench --peers made, or the source tree itself.
  for (const char* where : {"../share/berth/peers", "../../peers", "../../../bench/peers", "../../bench/peers"})
    all.push_back((beside / where).lexically_normal().string());
  return all;
}

std::string own_peers_folder() {
  for (const auto& folder : own_peers_folders()) {
    if (fs::exists(fs::path(folder) / list_name)) return folder;
  }
  return "";
}

}  // namespace berth::suite
