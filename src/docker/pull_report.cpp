#include "docker/pull_report.hpp"

#include "berth/error.hpp"
#include "core/shown_path.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace berth {
namespace {

struct known_text {
  std::string_view text;
  errc code;
};

constexpr std::array<known_text, 18> known_texts{{
    {"toomanyrequests", errc::rate_limited},
    {"unauthorized", errc::unauthorized},
    {"no basic auth credentials", errc::unauthorized},
    {"denied", errc::unauthorized},
    {"authentication required", errc::unauthorized},
    {"manifest unknown", errc::not_found},
    {"not found", errc::not_found},
    {"no matching manifest", errc::not_found},
    {"does not exist", errc::not_found},
    {"no space left on device", errc::resource_exhausted},
    {"connection refused", errc::unavailable},
    {"connection reset", errc::unavailable},
    {"no such host", errc::unavailable},
    {"server misbehaving", errc::unavailable},
    {"i/o timeout", errc::unavailable},
    {"timeout", errc::unavailable},
    {"network is unreachable", errc::unavailable},
    {"unexpected EOF", errc::unavailable},
}};

std::uint64_t number_of(const json& value) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value.if_int().value_or(0), 0));
}

}  // namespace

errc pull_failure_code(const std::string& text) noexcept {
  for (const known_text& each : known_texts) {
    if (text.find(each.text) != text.npos) return each.code;
  }
  return errc::protocol;
}

std::optional<pull_progress> pull_report::read(const json& document) {
  // From API 1.48 on `error` is only there for older clients.
  std::string failure = document["errorDetail"]["message"].text();
  if (failure.empty()) failure = document["error"].text();
  if (!failure.empty()) {
    constexpr std::size_t longest = 300;
    throw error(make_error_code(pull_failure_code(failure)),
                "image " + shown_path(image_) +
                    " could not be pulled: " + to_text(failure.substr(0, utf8_floor(failure, longest))),
                failure);
  }
  pull_progress now;
  now.image = image_;
  now.layer = document["id"].text();
  now.status = document["status"].text();
  if (now.status.empty()) return std::nullopt;
  if (now.status.starts_with("Pulling from ")) now.layer.clear();  // that is its tag
  const json& detail = document["progressDetail"];
  now.done = number_of(detail["current"]);
  now.size = number_of(detail["total"]);
  if (!now.layer.empty() && now.status == "Downloading") layers_[now.layer] = {now.done, std::max(now.size, now.done)};
  if (now.status == "Download complete" || now.status == "Pull complete") {
    layer& one = layers_[now.layer];
    one.done = one.size;
  }
  for (const auto& [id, each] : layers_) {
    now.all_done += each.done;
    now.all_size += each.size;
  }
  return now;
}

}  // namespace berth
