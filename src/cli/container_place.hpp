#pragma once
/// A context in containers for one subcommand, and what it tells meanwhile.

#include "cli/pull_display.hpp"

#include <berth/context.hpp>
#include <berth/docker_context.hpp>

#include <asio/io_context.hpp>

#include <memory>
#include <string_view>

namespace berth::cli {

/// Tells pulls by the display, if one is given, and warnings in the subcommand's name. Throws errc::invalid_argument.
docker_context make_container_context(asio::io_context& io, docker_context_options options, std::string_view subcommand,
                                      std::shared_ptr<pull_display> display);

}  // namespace berth::cli
