#include "isolation/links_on_way.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace berth {

namespace fs = std::filesystem;

std::vector<std::string> links_on_way(const std::string& name) {
  constexpr std::size_t most_links = 40;  // as the kernel has it
  std::vector<std::string> links;
  std::vector<fs::path> pending;
  const auto push = [&pending](const fs::path& some) {
    const std::vector<fs::path> parts(some.begin(), some.end());
    pending.insert(pending.end(), parts.rbegin(), parts.rend());
  };
  push(name);
  fs::path at = "/";
  while (!pending.empty() && links.size() < most_links) {
    const fs::path part = std::move(pending.back());
    pending.pop_back();
    if (part == "..") at = at.parent_path();
    if (part.empty() || part == "." || part == ".." || part == "/") continue;
    std::error_code code;
    const fs::path target = fs::read_symlink(at / part, code);
    if (code) {
      at /= part;
      continue;
    }
    links.push_back((at / part).string());
    if (target.is_absolute()) at = "/";
    push(target);
  }
  return links;
}

}  // namespace berth
