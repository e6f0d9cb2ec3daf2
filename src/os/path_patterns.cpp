#include "os/path_patterns.hpp"

#include "berth/error.hpp"

#include <algorithm>
#include <utility>

namespace berth {

path_patterns::path_patterns(std::vector<std::string> patterns) : texts_(std::move(patterns)) {
  for (const auto& each : texts_) {
    wire::path_pattern one;
    if (!one.set(each)) throw error(make_error_code(errc::invalid_argument), "exclude: '" + each + "' is no pattern");
    scratch_.resize(std::max(scratch_.size(), one.scratch_size()));
    patterns_.push_back(one);
  }
}

bool path_patterns::match(std::string_view path, bool is_directory) const {
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const wire::path_pattern& one) { return one.match(path, is_directory, scratch_.data()); });
}

}  // namespace berth
