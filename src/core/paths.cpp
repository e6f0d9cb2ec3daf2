#include "core/paths.hpp"

#include <filesystem>

namespace berth {

std::string normal_path(const std::string& path) {
  std::string text = std::filesystem::path(path).lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  if (text.starts_with("//")) text.erase(0, 1);
  return text;
}

}  // namespace berth
