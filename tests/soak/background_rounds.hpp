#pragma once
/// Many background commands at once, in an owner with few descriptors.

#include <berth/task.hpp>

#include <asio/io_context.hpp>

#include <cstddef>
#include <string>

namespace berth::test {

struct background_crowd {
  int commands = 1000;
  int lines = 20;  ///< each prints so many before the others have come, and as many afterwards
  /// The owner's limit of descriptors, which is 1024, cannot be raised again.
  bool for_good = false;
};

struct crowd_seen {
  int exact = 0;                ///< commands whose logs and status were right
  std::size_t held_each = 0;    ///< bytes of the owner's heap for each beyond its log, while all run
  std::size_t descriptors = 0;  ///< how many more were open while all ran
  std::string first_wrong;      ///< empty where all were exact
};

task<crowd_seen> run_crowd(asio::io_context& io, background_crowd wanted);

}  // namespace berth::test
