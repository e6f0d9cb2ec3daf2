#pragma once
/// What a case takes for granted that not every place can.

#include <berth/backend.hpp>

#include <string>

namespace berth::contract {

enum class needs : unsigned {
  nothing = 0,
  // Members of `capabilities`: the place itself says whether it can.
  kills_tree = 1U << 0U,
  signals = 1U << 1U,
  usage = 1U << 2U,
  limits = 1U << 3U,
  lists_ports = 1U << 4U,
  watches = 1U << 5U,
  // No capability has a word for these.
  pids = 1U << 6U,              ///< pid() of a command
  ended_by_signal = 1U << 7U,   ///< the end by a signal is told from the exit code 128 + n
  kernel_refusals = 1U << 8U,   ///< what only the exec itself finds is a failed start too, or the shell's
  default_path = 1U << 9U,      ///< programs are found without a PATH
  any_bytes = 1U << 10U,        ///< arguments and variables need not be UTF-8
  leftover_output = 1U << 11U,  ///< what a command leaves running may print on
  streamed_files = 1U << 12U,   ///< files go in bounded memory
  guarded_writes = 1U << 13U,   ///< writes that expect a hash
  any_end_key = 1U << 15U,      ///< the end of input is typed with whatever key the terminal has for it
  first_size = 1U << 16U,       ///< a terminal has its size from the beginning
  many_variables = 1U << 17U,   ///< tens of thousands of a command's own
  fast_starts = 1U << 14U,      ///< a command costs less than 100 ms
  exact_merge = 1U << 18U,      ///< both outputs of a program become one in exact order without a shell too
};

constexpr needs operator|(needs one, needs other) noexcept {
  return static_cast<needs>(static_cast<unsigned>(one) | static_cast<unsigned>(other));
}

constexpr bool has(needs all, needs one) noexcept {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0;
}

/// The needs that are not met, as "kills_tree, signals"; empty where all are.
std::string missing_of(needs wanted, const capabilities& can, needs lacks);

}  // namespace berth::contract
