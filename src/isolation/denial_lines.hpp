#pragma once
/// What is kept of an output that passes by, for the question what the command was denied.

#include "isolation/hint.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// Keeps the few lines that may tell of a denial, and nothing of the others. Of longer lines only the end is looked at.
class denial_lines {
 public:
  void add(std::string_view bytes);
  /// Those that end in the last 64 KiB of what was added, each with its end, in their order. Nothing more is to be added.
  std::string take();

 private:
  struct kept_line {
    std::uint64_t end;  ///< offset in the stream
    suspicion how;
    std::string text;
  };

  void look_at(std::string_view line, std::uint64_t end);
  void make_room();

  std::uint64_t added_ = 0;
  std::string unfinished_;
  std::vector<kept_line> kept_;
};

}  // namespace berth
