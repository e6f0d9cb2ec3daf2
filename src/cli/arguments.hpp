#pragma once
/// Reading the words of a command line: ours first, then those of a command that belong to somebody else.

#include "cli/subcommand.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace berth::cli {

/// `berth NAME OPTIONS [--] COMMAND`, cut in two.
struct divided_words {
  words options;
  words command;
};

/// The command begins behind the first `--`, or at the first word that is neither an option nor the value of one. What looks
/// like an option from there on is the command's. Throws usage_error for an option that the app does not have, or without its
/// value.
divided_words divide_words(const CLI::App& app, const words& all);

/// `berth NAME OPTIONS AND WORDS`, in any order: all behind `--` are words, and a dash alone is one. Throws as above; `command` holds
/// the words.
divided_words sort_words(const CLI::App& app, const words& all);

/// An option that may be given several times and takes one value each time.
void add_value(CLI::App& app, const std::string& names);

/// Parses option words; throws usage_error.
void parse_options(CLI::App& app, words options);

/// Every value an option was given, in order.
words values_of(const CLI::App& app, const std::string& name);

/// The value given last.
std::optional<std::string> last_value_of(const CLI::App& app, const std::string& name);

/// The same; empty where none was given. Throws usage_error for an empty value.
std::string text_of(const CLI::App& app, const std::string& name);

/// The value given last as a duration such as 30s or 1h30m; throws usage_error for what is none.
std::optional<std::chrono::milliseconds> duration_of(const CLI::App& app, const std::string& name);

/// The value given last as bytes: 4096, 64K, 512M or 2G, in powers of 1024; throws usage_error for what is none.
std::optional<std::uint64_t> size_of(const CLI::App& app, const std::string& name);

/// The value given last as a whole number; throws usage_error for what is none.
std::optional<std::uint64_t> number_of(const CLI::App& app, const std::string& name);

/// The directory of --cwd, empty where none was given; throws usage_error for what is none: that is a mistake of the caller's.
std::string directory_of(const CLI::App& app);

}  // namespace berth::cli
