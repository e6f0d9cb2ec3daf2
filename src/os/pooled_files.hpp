#pragma once
/// Files as streams and tasks: the blocking pieces of this folder, each call on the pool.

#include "berth/files.hpp"
#include "berth/task.hpp"
#include "core/blocking.hpp"
#include "os/last_link.hpp"
#include "os/path_scope.hpp"
#include "os/tree_extraction.hpp"

#include <memory>
#include <string>
#include <vector>

namespace berth {

/// Where file work is done: as the scope allows at the moment of each call, on these threads.
struct file_work {
  scope_source scope = whole_host;
  std::shared_ptr<blocking_pool> pool = {};
  last_link at_end = last_link::follow;  ///< of what is written or unpacked
};

/// The first piece is read by then, so a small file costs one call of the pool.
task<std::unique_ptr<byte_source>> open_file_source(file_work with, std::string path, read_options options);

/// Replaces a file by what the source gives. It is asked for its first pieces before anything is touched.
task<void> write_from_source(file_work with, std::string path, std::unique_ptr<byte_source> bytes,
                             write_options options);

/// Hears of a transfer, between pieces.
using progress_listener = std::function<void(const transfer_progress&)>;

/// `listener` may be empty.
task<std::unique_ptr<byte_source>> pack_tree(file_work with, std::string path, std::vector<std::string> excluded,
                                             progress_listener listener);

/// Gives what was made.
task<transfer_progress> unpack_tree(file_work with, std::string path, std::unique_ptr<byte_source> tar,
                                    outside_links links, progress_listener listener);

}  // namespace berth
