#pragma once
/// Trees between the caller's host and a place.

#include <berth/backend.hpp>

#include "core/blocking.hpp"

#include <memory>
#include <string>

namespace berth {

/// Both ends of a transfer. Paths are absolute.
struct transfer_ends {
  std::shared_ptr<backend_place> place = {};
  std::string in_place = {};
  std::shared_ptr<blocking_pool> pool = {};
  std::string on_host = {};
};

task<transfer_progress> upload_to(transfer_ends ends, transfer_options options);
task<transfer_progress> download_from(transfer_ends ends, transfer_options options);

}  // namespace berth
