#pragma once
/// A directory for a while.

#include <string>
#include <string_view>

namespace berth {

/// Below the temporary directory, empty at first, for our user alone; removed with this, whatever is in it then. Blocks.
class scratch_directory {
 public:
  /// Its name is the prefix, a dash and six letters. Errors: those of making it.
  explicit scratch_directory(std::string_view prefix);
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;
  ~scratch_directory();
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace berth
