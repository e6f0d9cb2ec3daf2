#include "context/resident_image.hpp"

extern "C" const char berth_resident_begin[];
extern "C" const char berth_resident_end[];

namespace berth {

std::string_view resident_bytes() noexcept {
  return {berth_resident_begin, static_cast<std::size_t>(berth_resident_end - berth_resident_begin)};
}

memory_image& resident_image() {
  static memory_image image("berth-resident", resident_bytes());
  return image;
}

}  // namespace berth
