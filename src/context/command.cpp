#include <berth/command.hpp>
#include <berth/error.hpp>

#include <string_view>

namespace berth {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw error(errc::invalid_argument, "command: " + why); }

void refuse_nul(std::string_view text, const std::string& field) {
  if (text.find('\0') != std::string_view::npos) refuse(field + " holds a NUL byte");
}

void check_words(const std::vector<std::string>& words, bool is_shell) {
  if (words.empty()) refuse("argv is empty");
  if (is_shell) return refuse_nul(words.front(), "shell text");
  if (words.front().empty()) refuse("the program, argv[0], is empty");
  for (std::size_t i = 0; i < words.size(); ++i) refuse_nul(words[i], "argv[" + std::to_string(i) + "]");
}

void check_variable(const command::env_change& change) {
  if (change.name.empty()) refuse("env: a name is empty");
  refuse_nul(change.name, "env: a name");
  if (change.name.find('=') != std::string::npos) refuse("env: the name " + change.name + " holds '='");
  if (change.value) refuse_nul(*change.value, "env: the value of " + change.name);
}

}  // namespace

void require_possible(terminal_size size) {
  constexpr int largest_side = 65535;  // struct winsize
  const auto fits = [](int side) { return side >= 1 && side <= largest_side; };
  if (!fits(size.columns()) || !fits(size.rows()))
    throw error(errc::invalid_argument, "terminal: columns and rows must lie between 1 and 65535");
}

command& command::env(std::string name, std::string value) & {
  env_.push_back({std::move(name), std::move(value)});
  return *this;
}

command& command::unset_env(std::string name) & {
  env_.push_back({std::move(name), std::nullopt});
  return *this;
}

std::vector<std::string> command::argv() const {
  if (!is_shell_) return words_;
  std::vector<std::string> list{shell_};
  if (login_) list.emplace_back("-l");
  list.emplace_back("-c");
  const std::string& text = words_.front();
  if (text.starts_with('-') || text.starts_with('+')) list.emplace_back("--");  // else a shell takes it for options
  list.insert(list.end(), words_.begin(), words_.end());
  return list;
}

void command::validate() const {
  check_words(words_, is_shell_);
  if (is_shell_ && shell_.empty()) refuse("shell is empty");
  refuse_nul(shell_, "shell");
  refuse_nul(cwd_, "cwd");
  refuse_nul(spill_, "spill");
  for (const auto& change : env_) check_variable(change);
  if (timeout_ && timeout_->count() <= 0) refuse("timeout must be greater than 0");
  if (idle_timeout_ && idle_timeout_->count() <= 0) refuse("idle_timeout must be greater than 0");
  if (grace_.count() < 0) refuse("grace must not be negative");
  if (terminal_) require_possible(*terminal_);
  limits_.validate();
  if (!(output_split_ >= 0 && output_split_ <= 1)) refuse("output_split must lie between 0 and 1");
}

}  // namespace berth
