#pragma once
// Small pieces put together, where each transport costs more than they do.

#include "berth/files.hpp"
#include "berth/task.hpp"

#include <memory>
#include <string>

namespace berth {

struct gathered {
  std::string bytes;
  bool ended = false;
};

/// Pieces of a source until they are a MiB, or the end. The source must outlive it.
task<std::shared_ptr<gathered>> gather(byte_source& from);

}  // namespace berth
