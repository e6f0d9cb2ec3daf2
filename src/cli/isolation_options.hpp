#pragma once
/// The options that put kernel limits around what a subcommand starts.

#include <berth/isolation.hpp>

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace berth::cli {

/// --isolate, --writable, --network, --protect, --unix-sockets, --private-tmp, --host-tmp.
void declare_isolation_options(CLI::App& app);

/// Nothing where none of them was given: each of the others implies --isolate, so that none is ever without effect. `cwd` is that of
/// the command, empty for ours. Throws usage_error.
std::optional<isolation_settings> isolation_of(const CLI::App& app, const std::string& cwd);

/// Is it the line with which every command of the place will end? Then nobody needs to hear it before.
bool is_told_by_commands(std::string_view log_line);

}  // namespace berth::cli
