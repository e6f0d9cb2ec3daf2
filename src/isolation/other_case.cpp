#include "isolation/other_case.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace berth {
namespace {

namespace fs = std::filesystem;

/// Every letter of ASCII turned over.
std::string turned(std::string name) {
  constexpr unsigned case_bit = 0x20;
  for (char& each : name) {
    const bool is_letter = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
    if (is_letter) each = static_cast<char>(static_cast<unsigned char>(each) ^ case_bit);
  }
  return name;
}

bool is_there(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0;
}

bool has_name(const std::string& directory, const std::string& name) {
  std::error_code code;
  for (fs::directory_iterator each(directory, code), end; !code && each != end; each.increment(code)) {
    if (each->path().filename() == name) return true;
  }
  return false;
}

}  // namespace

name_lookup lookup_here() { return {is_there, has_name}; }

std::string find_other_case(const std::string& path, const std::string& above, const name_lookup& lookup) {
  for (auto begin = above == "/" ? 1 : above.size() + 1; begin < path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    if (!lookup.finds(path.substr(0, end))) return {};
    const std::string other = turned(path.substr(begin, end - begin));
    const std::string whole = path.substr(0, begin) + other;
    const bool is_other = whole != path.substr(0, end);
    if (is_other && lookup.finds(whole) && !lookup.lists(path.substr(0, begin), other)) return whole;
    begin = end + 1;
  }
  return {};
}

}  // namespace berth
