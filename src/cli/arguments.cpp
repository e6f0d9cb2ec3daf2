#include "cli/arguments.hpp"

#include "core/text.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace berth::cli {
namespace {

/// Options of the docker command, and what is the same here.
constexpr std::pair<std::string_view, std::string_view> words_of_docker[] = {
    {"--rm", "a container always goes with what ran in it"},
    {"-w", "--cwd is the same"},
    {"--workdir", "--cwd is the same"},
    {"-i", "standard input is always passed on"},
    {"--interactive", "standard input is always passed on"},
    {"-t", "a terminal is what 'berth shell' opens"},
    {"--tty", "a terminal is what 'berth shell' opens"},
    {"-d", "a container goes with the command that it was made for"},
    {"--detach", "a container goes with the command that it was made for"},
};

[[noreturn]] void refuse_option(const CLI::App& app, const std::string& name) {
  const bool has_containers = app.get_option_no_throw("--image") != nullptr;
  for (const auto& [word, advice] : words_of_docker) {
    if (has_containers && word == name) throw usage_error(fmt::format("unknown option '{}': {}", name, advice));
  }
  throw usage_error(fmt::format("unknown option '{}'; 'berth help {}' lists those there are", name, app.get_name()));
}

bool takes_value(const CLI::App& app, const std::string& name) {
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) refuse_option(app, name);
  return option->get_items_expected_max() > 0;
}

using word_iterator = words::const_iterator;

/// Moves to the next word, which must be there.
const std::string& next_word(word_iterator& at, word_iterator end, const std::string& option) {
  if (std::next(at) == end) throw usage_error(fmt::format("{} needs a value", option));
  return *++at;
}

/// `--name`, `--name value` and `--name=value`.
void take_long(const CLI::App& app, word_iterator& at, word_iterator end, words& options) {
  const auto equals = at->find('=');
  const auto name = at->substr(0, equals);
  options.push_back(name);
  if (takes_value(app, name)) {
    options.push_back(equals == std::string::npos ? next_word(at, end, name) : at->substr(equals + 1));
  } else if (equals != std::string::npos) {
    throw usage_error(fmt::format("{} takes no value", name));
  }
}

/// `-x`, `-e value`, `-evalue`, and flags together: `-xevalue`.
void take_short(const CLI::App& app, word_iterator& at, word_iterator end, words& options) {
  const std::string letters = at->substr(1);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const std::string name{'-', letters[i]};
    options.push_back(name);
    if (!takes_value(app, name)) continue;
    const auto rest = letters.substr(i + 1);
    options.push_back(rest.empty() ? next_word(at, end, name) : rest);
    return;
  }
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-' && word != "--"; }

void take_option(const CLI::App& app, word_iterator& at, word_iterator end, words& options) {
  const auto take = at->starts_with("--") ? take_long : take_short;
  take(app, at, end, options);
}

}  // namespace

divided_words sort_words(const CLI::App& app, const words& all) {
  divided_words sorted;
  auto at = all.begin();
  for (; at != all.end() && *at != "--"; ++at) {
    if (is_option(*at))
      take_option(app, at, all.end(), sorted.options);
    else
      sorted.command.push_back(*at);
  }
  if (at != all.end()) sorted.command.insert(sorted.command.end(), std::next(at), all.end());
  return sorted;
}

divided_words divide_words(const CLI::App& app, const words& all) {
  divided_words divided;
  auto at = all.begin();
  for (; at != all.end() && is_option(*at); ++at) take_option(app, at, all.end(), divided.options);
  if (at != all.end() && *at == "--") ++at;
  divided.command.assign(at, all.end());
  return divided;
}

void add_value(CLI::App& app, const std::string& names) {
  app.add_option(names)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void parse_options(CLI::App& app, words options) {
  std::reverse(options.begin(), options.end());  // as CLI11 wants them
  try {
    app.parse(options);
  } catch (const CLI::ParseError& failure) {
    throw usage_error(failure.what());
  }
}

words values_of(const CLI::App& app, const std::string& name) { return app.get_option(name)->results(); }

std::optional<std::string> last_value_of(const CLI::App& app, const std::string& name) {
  const auto values = values_of(app, name);
  return values.empty() ? std::nullopt : std::optional(values.back());
}

std::string text_of(const CLI::App& app, const std::string& name) {
  auto value = last_value_of(app, name);
  if (!value) return {};
  if (value->empty()) throw usage_error(fmt::format("{}: an empty value", name));
  return std::move(*value);
}

std::optional<std::chrono::milliseconds> duration_of(const CLI::App& app, const std::string& name) {
  const auto value = last_value_of(app, name);
  if (!value) return std::nullopt;
  const auto time = parse_duration(*value);
  if (!time) {
    throw usage_error(fmt::format("{}: '{}' is not a time; write 30s, 1.5s, 200ms, 2m or 1h30m", name, *value));
  }
  return time;
}

std::optional<std::uint64_t> size_of(const CLI::App& app, const std::string& name) {
  constexpr std::string_view units = "KMGT";
  const auto value = last_value_of(app, name);
  if (!value) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = value->data() + value->size();
  const auto read = std::from_chars(value->data(), end, number);
  const auto unit = read.ptr == end ? units.npos : units.find(*read.ptr);
  const bool has_unit = unit != units.npos && read.ptr + 1 == end;
  const unsigned shift = has_unit ? 10 * (static_cast<unsigned>(unit) + 1) : 0;
  const bool fits = number <= (~std::uint64_t{0} >> shift);
  if (read.ec != std::errc() || (read.ptr != end && !has_unit) || !fits)
    throw usage_error(fmt::format("{}: '{}' is no size such as 4096, 64K, 512M or 2G", name, *value));
  return number << shift;
}

std::optional<std::uint64_t> number_of(const CLI::App& app, const std::string& name) {
  const auto value = last_value_of(app, name);
  if (!value) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = value->data() + value->size();
  const auto read = std::from_chars(value->data(), end, number);
  if (read.ec != std::errc() || read.ptr != end)
    throw usage_error(fmt::format("{}: '{}' is not a whole number", name, *value));
  return number;
}

std::string directory_of(const CLI::App& app) {
  const auto path = last_value_of(app, "--cwd");
  if (!path) return {};
  std::error_code failure;
  const auto status = std::filesystem::status(*path, failure);
  if (status.type() != std::filesystem::file_type::directory) {
    const auto why = failure ? failure : std::make_error_code(std::errc::not_a_directory);
    throw usage_error(fmt::format("--cwd {}: {}", *path, why.message()));
  }
  return *path;
}

}  // namespace berth::cli
