#pragma once
/// The lines of `berth exec --json`: values in, text out, no I/O.

#include <berth/denial.hpp>
#include <berth/docker_context.hpp>
#include <berth/exit_status.hpp>
#include <berth/process.hpp>

#include "core/text.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cli {

/// How a command ended, as far as its caller may want to know.
struct exec_summary {
  exit_status status = {};
  resource_usage usage = {};
  std::chrono::microseconds wall_time{0};
  bool streams_open = false;
  std::vector<survivor> survivors = {};
  std::optional<denial> denied = {};
  std::uint64_t out_bytes = 0;
  std::uint64_t err_bytes = 0;
};

/// Every function gives whole lines, each one JSON object; docs/cli.md describes them.
class json_events {
 public:
  /// A step of the pull of an image.
  static std::string pull(const pull_progress& now);

  /// The ports are told where there are any.
  std::string start(std::int64_t pid, const std::vector<docker_port>& chosen_ports) const;

  /// Text where the bytes are UTF-8, else base64. A character that is not whole yet waits for the next piece, so this may be
  /// empty.
  std::string output(const chunk& piece);

  /// What was held back of unfinished characters. Comes before the result.
  std::string rest();

  std::string result(const exec_summary& summary) const;

  /// The result where there is no command to tell of: it was not started, or contact with it was given up.
  std::string failure(int exit_code, std::string_view message) const;

 private:
  utf8_stream out_;
  utf8_stream err_;
};

}  // namespace berth::cli
