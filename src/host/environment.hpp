#pragma once
/// Lists of variables, as a process gets them: "NAME=VALUE".

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// What lies before the first '='.
std::string_view name_of_variable(std::string_view entry) noexcept;

/// Throws errc::invalid_argument, beginning with `field`, for what cannot be the name of a variable.
void check_variable_name(std::string_view name, std::string_view field);

/// Of our own environment what the names let through. See process_context_options::inherit_env.
std::vector<std::string> inherited_environment(const std::vector<std::string>& names);

/// The changes, "NAME=VALUE" or "NAME" to remove it, that make the second environment of the first.
std::vector<std::string> changes_between(const std::vector<std::string>& before, const std::vector<std::string>& after);

}  // namespace berth
