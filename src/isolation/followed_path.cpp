#include "isolation/followed_path.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace berth {

namespace fs = std::filesystem;

std::optional<followed_path> follow_path(const std::string& name,
                                         const std::function<bool(const std::string& path)>& may_look) {
  constexpr std::size_t most_links = 40;  // as the kernel has it
  std::vector<std::string> links;
  std::vector<fs::path> pending;
  const auto push = [&pending](const fs::path& some) {
    const std::vector<fs::path> parts(some.begin(), some.end());
    pending.insert(pending.end(), parts.rbegin(), parts.rend());
  };
  push(name);
  fs::path at = "/";
  while (!pending.empty()) {
    const fs::path part = std::move(pending.back());
    pending.pop_back();
    if (part == "..") at = at.parent_path();
    if (part.empty() || part == "." || part == ".." || part == "/") continue;
    const fs::path next = at / part;
    if (may_look && !may_look(next.string())) return std::nullopt;
    std::error_code code;
    const fs::path target = fs::read_symlink(next, code);
    if (code) {
      at = next;
      continue;
    }
    if (links.size() == most_links) return std::nullopt;
    links.push_back(next.string());
    if (target.is_absolute()) at = "/";
    push(target);
  }
  return followed_path{at.string(), std::move(links)};
}

}  // namespace berth
