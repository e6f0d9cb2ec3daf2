#pragma once
/// Writing a file where it lies.

#include "os/unique_fd.hpp"

#include <string_view>

namespace berth {

/// For a file that cannot be replaced, as nothing else may be made beside it. What is written is kept in memory until commit.
/// All functions block and throw as `file_failure` does.
class file_overwrite {
 public:
  /// `file` may be O_PATH.
  explicit file_overwrite(int file);

  void write(std::string_view bytes);
  /// Not in one step: a reader may see a part, and what fails leaves one.
  void commit(bool durable);
  /// The file, open for writing.
  int fd() const noexcept { return file_.get(); }

 private:
  unique_fd file_;
  unique_fd kept_;
};

}  // namespace berth
