#pragma once
/// What is in a file.

#include "resident/file_paths.hpp"

namespace berth::resident {

/// Opens the regular file for reading without opening anything else: a fifo or a device is not touched.
file_fd open_regular(const located& where);

/// "xxh3:" and 32 digits, as berth::content_hash.
class content_hasher {
 public:
  content_hasher();
  content_hasher(const content_hasher&) = delete;
  content_hasher& operator=(const content_hasher&) = delete;
  ~content_hasher();

  void update(std::string_view bytes);
  text finish() const;

 private:
  void* state_;
};

/// Of all that is in the file.
text hash_of(int fd);

}  // namespace berth::resident
