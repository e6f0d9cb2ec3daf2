#include "host/environment.hpp"

#include "berth/error.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>

namespace berth {
namespace {

using variables = std::map<std::string_view, std::string_view>;  // name, entry

bool lets_through(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

variables by_name(const std::vector<std::string>& entries) {
  variables all;
  for (const std::string& each : entries) all.insert_or_assign(name_of_variable(each), each);
  return all;
}

void check_pattern(std::string_view pattern) {
  constexpr std::string_view field = "inherit_env";
  const auto star = pattern.find('*');
  if (star != pattern.npos && star + 1 != pattern.size())
    throw error(make_error_code(errc::invalid_argument),
                "inherit_env: '" + std::string(pattern) + "' has a * that is not at its end");
  if (pattern != "*") check_variable_name(pattern.substr(0, star), field);
}

}  // namespace

std::string_view name_of_variable(std::string_view entry) noexcept { return entry.substr(0, entry.find('=')); }

void check_variable_name(std::string_view name, std::string_view field) {
  const bool usable = !name.empty() && name.find('=') == name.npos && name.find('\0') == name.npos;
  if (usable) return;
  throw error(make_error_code(errc::invalid_argument),
              std::string(field) + ": '" + std::string(name) + "' cannot be the name of a variable");
}

std::vector<std::string> inherited_environment(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  std::for_each(names.begin(), names.end(), check_pattern);
  for (char** each = ::environ; each != nullptr && *each != nullptr; ++each) {
    const auto wanted = [name = name_of_variable(*each)](const std::string& one) { return lets_through(one, name); };
    if (std::any_of(names.begin(), names.end(), wanted)) all.emplace_back(*each);
  }
  return all;
}

std::vector<std::string> changes_between(const std::vector<std::string>& before,
                                         const std::vector<std::string>& after) {
  const variables old = by_name(before);
  const variables fresh = by_name(after);
  std::vector<std::string> changes;
  for (const auto& [name, entry] : old) {
    if (fresh.count(name) == 0) changes.emplace_back(name);
  }
  for (const auto& [name, entry] : fresh) {
    const auto found = old.find(name);
    if (found == old.end() || found->second != entry) changes.emplace_back(entry);
  }
  return changes;
}

}  // namespace berth
