#include "bench/leftovers.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace berth::bench {
namespace {

/// The library keeps the program of the resident for as long as the process lives.
constexpr std::string_view kept_for_good = "/memfd:berth-resident";

std::size_t count_descriptors() {
  std::error_code failure;
  std::size_t count = 0;
  for (const auto& open : std::filesystem::directory_iterator("/proc/self/fd", failure)) {
    const auto target = std::filesystem::read_symlink(open.path(), failure).string();
    if (!target.starts_with(kept_for_good)) ++count;
  }
  return count;
}

std::size_t count_children() {
  std::error_code failure;
  std::size_t count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", failure)) {
    std::ifstream list(thread.path() / "children");
    count += static_cast<std::size_t>(
        std::distance(std::istream_iterator<std::string>(list), std::istream_iterator<std::string>()));
  }
  return count;
}

std::size_t above(std::size_t before, std::size_t now) { return now > before ? now - before : 0; }

}  // namespace

holdings holdings_now() { return {.descriptors = count_descriptors(), .children = count_children()}; }

holdings more_than(holdings before, holdings now) {
  return {.descriptors = above(before.descriptors, now.descriptors), .children = above(before.children, now.children)};
}

}  // namespace berth::bench
