#include "cli/container_place.hpp"

#include "cli/subcommand.hpp"

#include <string>
#include <utility>

namespace berth::cli {

docker_context make_container_context(asio::io_context& io, docker_context_options options, std::string_view subcommand,
                                      std::shared_ptr<pull_display> display) {
  if (display) options.on_pull = [display](const pull_progress& now) { display->tell(now); };
  options.log = [display, name = std::string(subcommand)](log_level level, std::string_view text) {
    if (level != log_level::warning && level != log_level::error) return;
    if (display) display->hide();
    print_error(name, text);
  };
  return make_docker_context(io, std::move(options));
}

}  // namespace berth::cli
