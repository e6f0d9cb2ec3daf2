#pragma once
/// Watching files without blocking.

#include "berth/backend.hpp"
#include "os/pooled_files.hpp"

#include <asio/any_io_executor.hpp>

#include <memory>
#include <string>

namespace berth {

/// Watches from when it returns, with inotify.
task<std::unique_ptr<backend_watch>> watch_files(asio::any_io_executor executor, file_work with, std::string path,
                                                 watch_options options);

}  // namespace berth
