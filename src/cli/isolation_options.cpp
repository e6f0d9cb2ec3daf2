#include "cli/isolation_options.hpp"

#include "cli/arguments.hpp"
#include "core/paths.hpp"
#include "core/shown_path.hpp"
#include "isolation/all_roots.hpp"
#include "isolation/home.hpp"
#include "isolation/plan.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

namespace berth::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* values[] = {"--writable", "--network", "--protect"};
constexpr const char* flags[] = {"--isolate", "--unix-sockets", "--private-tmp", "--host-tmp"};

bool is_given(const CLI::App& app) {
  const auto given = [&app](const char* name) { return app.count(name) > 0; };
  return std::any_of(std::begin(values), std::end(values), given) ||
         std::any_of(std::begin(flags), std::end(flags), given);
}

std::string real_path(const fs::path& path) {
  std::error_code code;
  fs::path real = fs::canonical(path, code);
  return code ? std::string() : real.string();
}

/// Ours, as the shell shows it to the user.
std::string absolute(const std::string& path) {
  std::error_code code;
  const fs::path here = fs::current_path(code);
  return (here / path).lexically_normal().string();
}

void check_paths(const words& paths, const char* option) {
  for (const std::string& each : paths) {
    if (each.empty()) throw usage_error(fmt::format("{}: an empty path", option));
  }
}

/// By its own name, or the home directory as HOME has it: not over a link, which a command may have put there.
bool is_named_in_full(const std::string& path, const std::string& real) {
  std::string plain = absolute(path);
  while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return path.starts_with('/') && (plain == real || plain == home_directory());
}

/// What holds the home directory may be written only where the user wrote it so: one line in a shell's files runs later, outside.
bool allows_wide_roots(const words& writable, const std::string& cwd) {
  std::vector<std::string> named;
  for (const std::string& each : writable) {
    const std::string real = real_path(absolute(each));
    if (real.empty() || !is_wide_root(real)) continue;
    if (!is_named_in_full(each, real))
      throw usage_error(
          fmt::format("--writable {}: {} is the home directory or above it; write it so if you mean it", each, real));
    named.push_back(real);
  }
  const std::string working = real_path(absolute(cwd.empty() ? "." : cwd));
  const bool is_wide = !working.empty() && is_wide_root(working);
  if (is_wide && berth::directory_of(working, named) == nullptr)
    throw usage_error(fmt::format(
        "--isolate: {} is the home directory or above it, and would be writable; choose another with --cwd{}", working,
        working == "/" ? "" : ", or add --writable " + working));
  return !named.empty();
}

bool is_network_of_docker(std::string_view name) { return name == "none" || name == "bridge" || name == "host"; }

access_rule network_of(const CLI::App& app) {
  const auto value = last_value_of(app, "--network");
  if (!value || *value == "deny") return access_rule::deny;
  if (*value != "allow")
    throw usage_error(fmt::format("--network: '{}' is neither allow nor deny{}", *value,
                                  is_network_of_docker(*value) ? "; for a container add --image" : ""));
  return access_rule::allow;
}

/// What the plan looks at, sorted; with this path to protect, or none.
words looked_at(const isolation_settings& settings, const words& roots, const words& to_protect) {
  isolation_settings one = settings;
  one.protected_paths(to_protect);
  one.unix_sockets(access_rule::deny);
  words all = make_isolation_plan(one, roots, {}).looked_at;
  std::sort(all.begin(), all.end());
  return all;
}

/// Why it protects nothing; empty: it does.
std::string why_idle(const isolation_settings& settings, const words& roots, const std::string& path) {
  const words without = looked_at(settings, roots, {});
  const words with = looked_at(settings, roots, {path});
  words places;
  std::set_difference(with.begin(), with.end(), without.begin(), without.end(), std::back_inserter(places));
  bool is_there = false;
  const words open = make_isolation_plan(settings, roots, {}).roots;
  for (const std::string& each : places) {
    const std::string real = real_path(each);
    if (real.empty()) continue;
    if (berth::directory_of(real, open) != nullptr) return {};
    is_there = true;
  }
  return is_there ? "lies outside of what may be written, so nothing is protected by it"
                  : "is not there, so nothing is protected by it";
}

}  // namespace

void declare_isolation_options(CLI::App& app) {
  for (const char* name : values) add_value(app, name);
  for (const char* name : flags) app.add_flag(name);
}

bool has_isolation_options(const CLI::App& app) { return app.get_option_no_throw("--isolate") != nullptr; }

std::string isolation_option_in(const CLI::App& app) {
  if (!has_isolation_options(app)) return {};
  for (const char* name : flags) {
    if (app.count(name) > 0) return name;
  }
  for (const char* name : values) {
    if (std::string_view(name) != "--network" && app.count(name) > 0) return name;
  }
  return {};
}

std::optional<isolation_settings> isolation_of(const CLI::App& app, const std::string& cwd) {
  if (!is_given(app)) return std::nullopt;
  const words writable = values_of(app, "--writable");
  const words more_protected = values_of(app, "--protect");
  check_paths(writable, "--writable");
  check_paths(more_protected, "--protect");
  if (app.count("--private-tmp") > 0 && app.count("--host-tmp") > 0)
    throw usage_error("--private-tmp and --host-tmp cannot both be");
  isolation_settings settings;
  settings.setting_name("--writable");
  settings.allow_wide_roots(allows_wide_roots(writable, cwd));
  std::vector<std::string> roots;
  for (const std::string& each : writable) roots.push_back(absolute(each));
  settings.writable_roots(std::move(roots));
  settings.network(network_of(app));
  auto protected_paths = settings.protected_paths();
  protected_paths.insert(protected_paths.end(), more_protected.begin(), more_protected.end());
  settings.protected_paths(std::move(protected_paths));
  if (app.count("--unix-sockets") > 0) settings.unix_sockets(access_rule::allow);
  if (app.count("--host-tmp") > 0) settings.tmp(tmp_kind::host);
  return settings;
}

std::vector<std::string> idle_protections(const isolation_settings& settings, const std::string& cwd,
                                          log_function log) {
  words lines;
  try {
    root_options options;
    options.extra = settings.writable_roots();
    options.allow_wide = settings.allows_wide_roots();
    options.log = std::move(log);
    const words roots = resolve_all_roots(absolute(cwd.empty() ? "." : cwd), options);
    const words& all = settings.protected_paths();
    for (std::size_t at = isolation_settings().protected_paths().size(); at < all.size(); ++at) {  // the first are ours
      const std::string why = why_idle(settings, roots, all[at]);
      if (!why.empty()) lines.push_back(fmt::format("--protect {}: {}", shown_path(all[at]), why));
    }
  } catch (const std::system_error&) {
    lines.clear();  // as the spawn will say
  }
  return lines;
}

bool is_told_by_commands(std::string_view log_line) {
  return log_line.starts_with("[isolation] ") && log_line.ends_with("; command was not run");
}

}  // namespace berth::cli
