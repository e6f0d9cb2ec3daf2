#pragma once
/// What a pull tells while it goes on.

#include "berth/docker_context.hpp"
#include "core/json.hpp"

#include <map>
#include <optional>
#include <string>

namespace berth {

/// Follows the documents of one pull. No I/O.
class pull_report {
 public:
  explicit pull_report(std::string image) : image_(std::move(image)) {}

  /// What is new; nothing for a document that says nothing to a user.
  /// Errors: the pull's own, which come with status 200 in the middle of the stream. Their text is in error::remote() and, cut, in the
  ///         message; the code is the one that `pull_failure_code` finds.
  std::optional<pull_progress> read(const json& document);

 private:
  struct layer {
    std::uint64_t done = 0;
    std::uint64_t size = 0;
  };

  std::string image_;
  std::map<std::string, layer> layers_;
};

/// The code for what a daemon says of a pull: unauthorized, not_found, rate_limited, resource_exhausted (disk full), unavailable (the
/// registry cannot be reached), protocol for all else.
errc pull_failure_code(const std::string& text) noexcept;

}  // namespace berth
