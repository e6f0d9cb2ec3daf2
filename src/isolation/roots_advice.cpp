#include "isolation/roots_advice.hpp"

#include "core/shown_path.hpp"

namespace berth {

std::string plainly(const std::string& path) {
  std::string quoted = shown_path(path);
  return quoted == "'" + path + "'" ? path : quoted;
}

std::string root_names(const std::vector<std::string>& roots) {
  std::string names;
  for (const std::string& each : roots) names += (names.empty() ? "" : ", ") + plainly(each);
  return "writable roots are " + (names.empty() ? "none" : names);
}

std::string roots_advice(const std::vector<std::string>& roots, const std::string& setting_name) {
  return root_names(roots) + "; add the directory to " + setting_name + " to allow it";
}

}  // namespace berth
