#pragma once
/// Reading one regular file.

#include "berth/files.hpp"
#include "os/path_scope.hpp"
#include "os/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace berth {

/// Opens the regular file for reading without opening anything else: a fifo or a device is not touched.
/// Errors: is_a_directory, unsupported.
unique_fd open_regular(const located& where);

/// An open part of a file. Blocks.
class file_reader {
 public:
  static constexpr std::size_t piece_size = std::size_t{256} << 10;

  file_reader(const path_scope& scope, const std::string& path, read_options options);

  /// The next bytes; empty at the end.
  std::string read();
  bool at_end() const noexcept { return at_end_; }
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  unique_fd fd_;
  std::uint64_t offset_;
  std::uint64_t left_;
  bool at_end_ = false;
};

}  // namespace berth
