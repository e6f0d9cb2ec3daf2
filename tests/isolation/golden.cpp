#include "isolation/golden.hpp"

#include "core/shown_path.hpp"
#include "support/temp_dir.hpp"

#include <cstdlib>

namespace berth::test {

std::string golden(const std::string& name, std::string_view now) {
  const std::string path = std::string(BERTH_SOURCE_DIR "/tests/isolation/data/") + name;
  if (std::getenv("BERTH_UPDATE_GOLDEN") != nullptr) write_whole_file(path, now);
  return read_whole_file(path);
}

std::string shown_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const std::string quoted = quoted_path(word);
    text += (quoted == "'" + word + "'" && !word.empty() ? word : quoted) + "\n";
  }
  return text;
}

}  // namespace berth::test
