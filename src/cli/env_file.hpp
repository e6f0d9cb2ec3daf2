#pragma once
/// Variables from the command line and from files in docker's format.

#include <berth/command.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace berth::cli {

using env_changes = std::vector<command::env_change>;

/// Reads NAME=VALUE, or NAME alone: then the variable is taken from our own environment, and nothing changes where it is not
/// set. Throws usage_error beginning with `where`.
void add_variable(env_changes& changes, std::string_view entry, std::string_view where);

/// One variable a line, values taken as they stand, without quotes or expansion; empty lines and lines beginning with # are
/// skipped. Throws usage_error naming file and line.
void add_env_file(env_changes& changes, const std::string& path);

/// The same from text.
void add_env_text(env_changes& changes, std::string_view text, std::string_view path);

}  // namespace berth::cli
