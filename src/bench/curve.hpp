#pragma once
/// Points of a curve are told by their names: "exec/curve-64", "stream/size-1m".

#include <optional>
#include <string>
#include <string_view>

namespace berth::bench {

struct curve_point {
  std::string curve;  ///< "exec/curve"
  double x = 0;
  bool is_size = false;  ///< of bytes: written with k, m or g
};

std::optional<curve_point> curve_point_of(std::string_view name);

}  // namespace berth::bench
