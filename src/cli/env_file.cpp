#include "cli/env_file.hpp"

#include "cli/subcommand.hpp"
#include "os/whole_file.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

namespace berth::cli {
namespace {

constexpr std::string_view blanks = " \t\v\f";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

[[noreturn]] void refuse(std::string_view where, std::string_view why) {
  throw usage_error(fmt::format("{}: {}", where, why));
}

std::string read_file(const std::string& path, std::string_view where) {
  try {
    return whole_file(path);
  } catch (const std::system_error& failure) {
    refuse(where, failure.code().message());
  }
}

}  // namespace

void add_variable(env_changes& changes, std::string_view entry, std::string_view where) {
  const auto equals = entry.find('=');
  std::string name(entry.substr(0, equals));
  if (name.empty()) refuse(where, fmt::format("no variable name in '{}'", entry));
  if (name.find_first_of(blanks) != std::string::npos)
    refuse(where, fmt::format("variable name '{}' has a blank", name));
  if (entry.find('\0') != std::string_view::npos) refuse(where, fmt::format("variable {} has a NUL byte", name));
  if (equals != std::string_view::npos) {
    changes.push_back({std::move(name), std::string(entry.substr(equals + 1))});
  } else if (const char* ours = std::getenv(name.c_str()); ours != nullptr) {
    changes.push_back({std::move(name), std::string(ours)});
  }
}

void add_env_text(env_changes& changes, std::string_view text, std::string_view path) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (line.empty() || line.front() == '#') continue;
    add_variable(changes, line, fmt::format("{}:{}", path, number));
  }
}

void add_env_file(env_changes& changes, const std::string& path) {
  const auto text = read_file(path, fmt::format("--env-file {}", path));
  add_env_text(changes, text, path);
}

}  // namespace berth::cli
