#pragma once
/// What the file functions of a context need of it.

#include <berth/backend.hpp>

#include "core/blocking.hpp"

#include <exception>
#include <memory>
#include <string>

namespace berth {

/// A place that has files, kept for one operation.
struct file_access {
  backend_files* files() const noexcept { return place->files(); }

  std::shared_ptr<backend_place> place;
  std::string cwd;
  std::shared_ptr<blocking_pool> pool;
  bool can_watch = false;
  std::exception_ptr failure;  ///< there is no such place: for who awaits the operation
};

}  // namespace berth
