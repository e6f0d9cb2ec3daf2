#pragma once
/// Which daemon the caller means.

#include <string>

namespace CLI {
class App;
}

namespace berth::cli {

/// Empty: whatever the docker command would take.
struct daemon_words {
  std::string host = {};
  std::string docker_context = {};
};

inline constexpr const char* daemon_option_names[] = {"--docker-host", "--docker-context"};

void declare_daemon_options(CLI::App& app);

/// Throws usage_error for both at once, and for empty values.
daemon_words daemon_of(const CLI::App& app);

}  // namespace berth::cli
