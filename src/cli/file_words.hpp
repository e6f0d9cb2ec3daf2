#pragma once
/// `berth read|write|ls|cp|rm|mkdir`: files of a place.

#include "cli/subcommand.hpp"

#include <string_view>

namespace berth::cli {

extern const std::string_view read_help;
extern const std::string_view write_help;
extern const std::string_view ls_help;
extern const std::string_view cp_help;
extern const std::string_view rm_help;
extern const std::string_view mkdir_help;

// Each throws usage_error at once. The task gives the exit code, having told on standard error what went wrong.
task<int> read_command(asio::io_context& io, words arguments);
task<int> write_command(asio::io_context& io, words arguments);
task<int> ls_command(asio::io_context& io, words arguments);
task<int> cp_command(asio::io_context& io, words arguments);
task<int> rm_command(asio::io_context& io, words arguments);
task<int> mkdir_command(asio::io_context& io, words arguments);

}  // namespace berth::cli
