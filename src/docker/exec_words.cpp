#include "docker/exec_words.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

namespace berth {
namespace {

constexpr const char* default_term = "TERM=xterm-256color";
constexpr int cannot_run = 126;
constexpr int not_found = 127;
constexpr std::size_t largest_word = 131072;  // MAX_ARG_STRLEN
constexpr std::size_t largest_total = std::size_t{2} << 20;

bool has(std::string_view text, std::string_view part) noexcept { return text.find(part) != text.npos; }

/// One line of it, valid UTF-8.
std::string shown(std::string_view text) {
  constexpr std::size_t longest = 300;
  std::string line(text.substr(0, utf8_floor(text, longest)));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return to_text(line);
}

/// Of each name the last. The Engine takes the first word about one.
std::vector<std::string> last_changes(std::vector<std::string> all) {
  std::unordered_set<std::string> seen;
  std::vector<std::string> kept;
  for (auto each = all.rbegin(); each != all.rend(); ++each) {
    if (seen.insert(each->substr(0, each->find('='))).second) kept.push_back(std::move(*each));
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

}  // namespace

exec_request exec_request_of(const command& what, const std::vector<std::string>& env, std::string user) {
  exec_request made;
  made.words = what.argv();
  // A shell can do what the Engine cannot; of other programs both streams are one, in no exact order.
  if (what.merges_stderr() && what.is_shell()) made.words.back().insert(0, "exec 2>&1\n");
  if (what.terminal()) made.env.emplace_back(default_term);
  made.env.insert(made.env.end(), env.begin(), env.end());
  for (const command::env_change& each : what.env_changes()) {
    const bool is_default = what.terminal() && !each.value && each.name == "TERM";
    made.env.push_back(each.value ? each.name + "=" + *each.value : is_default ? default_term : each.name);
  }
  made.env = last_changes(std::move(made.env));
  made.cwd = what.cwd();
  made.user = std::move(user);
  made.input = what.input_from() != input_kind::closed || what.terminal();
  made.terminal = what.terminal();
  return made;
}

exit_status exec_refusal(const command& what, std::string_view text) {
  const std::string program = what.argv().front();
  const auto failed = [](int code, std::string message) { return exit_status::start_failed(code, std::move(message)); };
  if (has(text, "chdir to cwd") || has(text, "Cwd must be an absolute path")) {
    const bool missing = has(text, "no such file");
    return failed(cannot_run, "working directory '" + what.cwd() + "': " +
                                  (missing                        ? "No such file or directory"
                                   : has(text, "not a directory") ? "Not a directory"
                                                                  : shown(text)));
  }
  if (has(text, "unable to find user") || has(text, "no matching entries in passwd"))
    return failed(cannot_run, "the user is not known in the container: " + shown(text));
  if (has(text, "executable file not found"))
    return failed(not_found, "cannot run '" + program + "': not found in PATH");
  if (has(text, "no such file or directory"))
    return failed(not_found, "cannot run '" + program + "': No such file or directory");
  if (has(text, "permission denied")) return failed(cannot_run, "cannot run '" + program + "': Permission denied");
  if (has(text, "exec format error")) return failed(cannot_run, "cannot run '" + program + "': Exec format error");
  return failed(cannot_run, "cannot run '" + program + "': " + shown(text));
}

bool looks_refused(int code, std::string_view text) noexcept {
  constexpr std::array<std::string_view, 4> beginnings{"OCI runtime ", "runc: ", "crun: ", "Error: "};
  const bool is_own_code = code >= 125 && code <= 128;
  return is_own_code && std::any_of(beginnings.begin(), beginnings.end(),
                                    [text](std::string_view each) { return text.starts_with(each); });
}

exit_status refuse_too_long(const command& what) {
  std::size_t total = 0;
  std::size_t longest = 0;
  const auto count = [&](std::size_t size) {
    total += size + 1;
    longest = std::max(longest, size + 1);
  };
  for (const std::string& each : what.argv()) count(each.size());
  for (const command::env_change& each : what.env_changes())
    count(each.name.size() + (each.value ? each.value->size() + 1 : 0));
  if (longest <= largest_word && total <= largest_total) return {};
  return exit_status::start_failed(cannot_run, "the arguments and environment are too long (" + std::to_string(total) +
                                                   " bytes); one argument may have at most 131071 bytes, and all of "
                                                   "them and the environment together about 2 MiB");
}

exit_status refuse_unsendable(const command& what) {
  const exit_status too_long = refuse_too_long(what);
  if (too_long.reason() == end_reason::start_failed) return too_long;
  bool fits = is_utf8(what.cwd());
  for (const std::string& each : what.argv()) fits = fits && is_utf8(each);
  for (const command::env_change& each : what.env_changes())
    fits = fits && is_utf8(each.name) && is_utf8(each.value.value_or(""));
  if (fits) return {};
  return exit_status::start_failed(cannot_run,
                                   "the arguments, environment or directory are not UTF-8, and the Engine takes "
                                   "nothing else");
}

}  // namespace berth
