#pragma once
/// Rounds in which a program that replaces a file in a loop is killed while others read it.

#include <cstddef>
#include <filesystem>
#include <string>

namespace berth::test {

/// What was seen, over all rounds.
struct file_rounds {
  std::size_t reads = 0;
  std::size_t contents = 0;   ///< how often a read gave something else than the one before
  std::size_t temporary = 0;  ///< names that killed writers left
};

/// Starts the writer, reads for a while, kills it with SIGKILL, reads again. Gives what was wrong, or nothing.
std::string kill_a_writer(const std::filesystem::path& directory, int number, file_rounds& seen);

}  // namespace berth::test
