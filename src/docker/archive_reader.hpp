#pragma once
/// What is in a tar that the daemon sent: no I/O.

#include "berth/files.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct archive;

namespace berth {

struct archived_entry {
  std::string path = {};  ///< without "./" before it and slashes behind it; empty for the top itself
  file_type type = file_type::other;
  unsigned mode = 0;
  std::uint64_t size = 0;
  file_info::time_point modified = {};
  std::string target = {};  ///< of a link
};

/// Entry by entry; hard links are other. Errors: protocol for what is no tar.
class archive_reader {
 public:
  explicit archive_reader(std::string tar);
  ~archive_reader();

  /// False at the end.
  bool next(archived_entry& into);
  /// The content of the entry that next() gave.
  std::string content();

 private:
  struct closer {
    void operator()(archive* open) const noexcept;
  };

  std::string tar_;
  std::unique_ptr<archive, closer> archive_;
  std::uint64_t size_ = 0;
};

/// "2026-11-30T11:22:33.123456789Z", or with an offset. Errors: protocol.
file_info::time_point read_rfc3339(std::string_view text);

}  // namespace berth
