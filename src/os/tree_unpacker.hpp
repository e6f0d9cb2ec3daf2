#pragma once
/// A tar stream as a directory.

#include "os/last_link.hpp"
#include "os/path_scope.hpp"
#include "os/tree_extraction.hpp"

#include <memory>
#include <string>

namespace berth {

/// Makes what a tar stream holds, piece by piece, as `tree_extraction` does. The directory is made if it is missing. Feed it all
/// pieces, then finish; destroyed before, what has arrived stays, each file whole or not there. All functions block and
/// throw as `file_failure` does; errc::protocol for what is no whole tar stream.
///
/// libarchive asks for bytes rather than taking them, so it runs on a thread of its own that works only while feed() or
/// finish() waits for it.
class tree_unpacker {
 public:
  tree_unpacker(std::shared_ptr<const path_scope> scope, const std::string& path, outside_links links,
                last_link at_end = last_link::follow);
  tree_unpacker(const tree_unpacker&) = delete;
  tree_unpacker& operator=(const tree_unpacker&) = delete;
  ~tree_unpacker();

  void feed(std::string piece);
  void finish();
  /// Between calls.
  const transfer_progress& progress() const noexcept;

 private:
  struct reader;
  std::unique_ptr<reader> reader_;
};

}  // namespace berth
