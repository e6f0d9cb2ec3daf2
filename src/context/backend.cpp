#include <berth/backend.hpp>

#include <berth/error.hpp>

namespace berth {

task<std::vector<std::uint16_t>> backend_process::ports() {
  throw error(errc::unsupported, "the ports of a command cannot be told here");
  co_return std::vector<std::uint16_t>();
}

task<std::optional<denial>> backend_process::denied(exit_status) { co_return std::nullopt; }

}  // namespace berth
