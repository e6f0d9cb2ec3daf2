#include "host/login_environment.hpp"

#include "berth/error.hpp"
#include "context/exec.hpp"
#include "host/environment.hpp"

#include <asio/error.hpp>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <random>
#include <utility>

namespace berth {
namespace {

// A kernel gives a program at most about two megabytes; what comes before them is noise.
constexpr std::size_t largest_environment = std::size_t{4} << 20;

// These say how the shell was run, not what the user has set.
constexpr std::string_view of_the_question[] = {"SHLVL",   "_",     "PWD", "OLDPWD",  "TERM",    "TERMCAP",
                                                "COLUMNS", "LINES", "TTY", "GPG_TTY", "WINDOWID"};

bool belongs_to_the_question(std::string_view entry) {
  const auto name = name_of_variable(entry);
  return std::find(std::begin(of_the_question), std::end(of_the_question), name) != std::end(of_the_question);
}

bool has_variable(const std::vector<std::string>& entries, std::string_view name) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const auto& each) { return name_of_variable(each) == name && each.size() > name.size(); });
}

std::string random_mark() {
  std::random_device random;
  return fmt::format("berth-{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

command shell_command(const login_question& what, const login_user& who, const std::string& mark) {
  command run = argv(who.shell, "-l", "-i", "-c", login_script(who.shell, mark));
  run.cwd(what.cwd).timeout(what.timeout).grace(std::chrono::milliseconds(0)).end_leftovers();
  run.output_limit(largest_environment).output_split(0);
  for (const std::string& entry : who.variables) {
    const auto name = name_of_variable(entry);
    const bool is_set = has_variable(what.inherited, name) || has_variable(what.changes, name);
    if (!is_set) run.env(std::string(name), entry.substr(name.size() + 1));
  }
  return run;
}

[[noreturn]] void fail(errc code, const login_user& who, std::string_view why) {
  throw error(make_error_code(code), fmt::format("{}: {}", who.shell, why));
}

/// What is exported after all, in place of what the question itself changed.
std::vector<std::string> merged(const std::vector<std::string>& inherited, std::vector<std::string> exported) {
  std::erase_if(exported, belongs_to_the_question);
  std::copy_if(inherited.begin(), inherited.end(), std::back_inserter(exported), belongs_to_the_question);
  return exported;
}

std::vector<std::string> changes_of(const login_question& what, const login_user& who, std::string_view mark,
                                    const exec_result& result) {
  // It is cancelled here, not by the next await of whoever asked: that one would have a place already.
  if (result.status.reason() == end_reason::cancelled) throw error(asio::error::operation_aborted, who.shell);
  if (result.status.reason() == end_reason::timed_out)
    fail(errc::timeout, who, fmt::format("not ready after {} ms", what.timeout.count()));
  auto exported = find_environment(result.std_out, mark);
  if (!result.ok() || !exported)
    fail(errc::unavailable, who, fmt::format("it showed no environment ({})", describe(result.status)));
  return changes_between(what.inherited, merged(what.inherited, std::move(*exported)));
}

}  // namespace

login_user current_login_user() {
  login_user who;
  passwd entry{};
  passwd* found = nullptr;
  std::string texts(std::size_t{64} << 10, '\0');
  ::getpwuid_r(::geteuid(), &entry, texts.data(), texts.size(), &found);
  if (found != nullptr) {
    who.shell = entry.pw_shell;
    who.variables = {fmt::format("HOME={}", entry.pw_dir), fmt::format("USER={}", entry.pw_name),
                     fmt::format("LOGNAME={}", entry.pw_name)};
  }
  const char* const named = std::getenv("SHELL");
  if (who.shell.empty() && named != nullptr) who.shell = named;
  if (who.shell.empty()) who.shell = "/bin/sh";
  who.variables.push_back("SHELL=" + who.shell);
  return who;
}

std::string login_script(std::string_view shell, std::string_view mark) {
  const auto name = shell.substr(shell.rfind('/') + 1);
  std::string script;
  // direnv and its like work when the prompt is shown, and none will be.
  if (name == "bash") script = R"(for berth_each in "${PROMPT_COMMAND[@]-}"; do eval "$berth_each"; done; )";
  if (name == "zsh") script = "for berth_each in $precmd_functions; do $berth_each; done; ";
  if (name == "fish") script = "emit fish_prompt; ";
  // By its path, as PATH may be anything now; in place of the shell, so that nothing runs at its exit.
  return script + fmt::format("printf %s {}; exec /usr/bin/env -0", mark);
}

std::optional<std::vector<std::string>> find_environment(std::string_view output, std::string_view mark) {
  const auto found = output.rfind(mark);
  if (found == output.npos) return std::nullopt;
  std::vector<std::string> entries;
  for (auto rest = output.substr(found + mark.size()); !rest.empty();) {
    const auto end = rest.find('\0');
    if (end == rest.npos) break;  // something in the background spoke
    const auto entry = rest.substr(0, end);
    if (!name_of_variable(entry).empty() && entry.find('=') != entry.npos) entries.emplace_back(entry);
    rest.remove_prefix(end + 1);
  }
  if (entries.empty()) return std::nullopt;
  return entries;
}

task<std::vector<std::string>> ask_login_shell(login_question what, login_user who) {
  const std::string mark = random_mark();
  exec_place where{what.executor, what.place, what.pool, true};
  command run = shell_command(what, who, mark);
  auto running = run_command(std::move(where), std::move(run));
  what.place.reset();
  const exec_result result = co_await std::move(running);
  co_return changes_of(what, who, mark, result);
}

}  // namespace berth
