#include "cli/daemon_words.hpp"

#include "cli/arguments.hpp"

#include <CLI/CLI.hpp>

namespace berth::cli {

void declare_daemon_options(CLI::App& app) {
  for (const char* name : daemon_option_names) add_value(app, name);
}

daemon_words daemon_of(const CLI::App& app) {
  daemon_words wanted;
  wanted.host = text_of(app, "--docker-host");
  wanted.docker_context = text_of(app, "--docker-context");
  if (!wanted.host.empty() && !wanted.docker_context.empty())
    throw usage_error("--docker-host and --docker-context exclude each other");
  return wanted;
}

}  // namespace berth::cli
