#pragma once
/// What `exec` gives back.

#include <berth/api.hpp>
#include <berth/denial.hpp>
#include <berth/exit_status.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth {

/// How much of a stream was seen, and how much was kept.
class BERTH_API stream_totals {
 public:
  stream_totals() = default;
  stream_totals(std::uint64_t seen, std::uint64_t kept, std::uint64_t head) : seen_(seen), kept_(kept), head_(head) {}

  std::uint64_t seen() const noexcept { return seen_; }
  std::uint64_t kept() const noexcept { return kept_; }
  /// Where, in the kept bytes, the gap lies; kept() where nothing was dropped.
  std::uint64_t head() const noexcept { return head_; }
  bool truncated() const noexcept { return kept_ < seen_; }

 private:
  std::uint64_t seen_ = 0;
  std::uint64_t kept_ = 0;
  std::uint64_t head_ = 0;
};

/// The collected end of a command.
class BERTH_API exec_result {
 public:
  exit_status status;
  /// Exact bytes: all of them, or the head and the tail joined where `out` says truncated. Behind them, where the command was denied
  /// something, the line of `command::hints`; `out` and `err` do not count it.
  std::string std_out;
  std::string std_err;
  stream_totals out;
  stream_totals err;
  /// Something it left running still held the output open when the reading was given up.
  bool streams_open = false;
  /// Files with the whole output, where `command::spill` asked for it. Empty where a write failed: spill_error then says why, and
  /// what was written until then lies there still. err_file is empty for merged streams.
  std::string out_file;
  std::string err_file;
  std::string spill_error;
  /// From the start until its first process ended, or was lost.
  std::chrono::microseconds wall_time{0};
  resource_usage usage;
  std::vector<survivor> survivors;
  /// What its isolation denied it; mostly nothing.
  std::optional<denial> denied;

  exec_result() = default;
  bool ok() const noexcept { return status.ok(); }
  /// Valid UTF-8 for a person or a model: invalid bytes replaced, a line "[... N bytes left out ...]" at the gap, cut between
  /// characters.
  std::string out_text() const;
  std::string err_text() const;
};

}  // namespace berth
