#pragma once
/// The options that put kernel limits around what a subcommand starts.

#include <berth/isolation.hpp>
#include <berth/log.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace berth::cli {

/// --isolate, --writable, --network, --protect, --unix-sockets, --private-tmp, --host-tmp.
void declare_isolation_options(CLI::App& app);

/// Nothing where none of them was given: each of the others implies --isolate, so that none is ever without effect. `cwd` is that of
/// the command, empty for ours. Throws usage_error.
std::optional<isolation_settings> isolation_of(const CLI::App& app, const std::string& cwd);

/// Does the app have these options?
bool has_isolation_options(const CLI::App& app);

/// One of them that was given and that means nothing elsewhere, as --network does; empty where none was.
std::string isolation_option_in(const CLI::App& app);

/// A line for each --protect that does nothing for a command started now in `cwd`: nothing of that name is there, or it lies outside of
/// what may be written. `log` hears of roots that are missing. Blocks; what makes a spawn fail is left for that to tell.
std::vector<std::string> idle_protections(const isolation_settings& settings, const std::string& cwd,
                                          log_function log = {});

/// Is it the line with which every command of the place will end? Then nobody needs to hear it before.
bool is_told_by_commands(std::string_view log_line);

}  // namespace berth::cli
