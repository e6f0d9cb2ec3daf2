#include "isolation/hint.hpp"

#include "isolation/paths.hpp"
#include "isolation/roots_advice.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace berth {
namespace {

constexpr std::size_t looked_at = 65536;
/// What a line names beyond this is not asked about.
constexpr std::size_t most_subjects = 4;

/// A meaning that a line of output can end with.
enum class meaning { read_only, busy, refused, missing, network, nothing };

struct sign {
  std::string_view text;
  meaning is;
};

constexpr sign at_end[] = {
    {"Read-only file system", meaning::read_only},
    {"Operation not permitted", meaning::refused},
    {"Permission denied", meaning::refused},
    {"Device or resource busy", meaning::busy},
    {"No such file or directory", meaning::missing},
    {"Network is unreachable", meaning::network},
    {"Temporary failure in name resolution", meaning::network},
    {"Connection refused", meaning::network},
};
/// What runtimes write where the text is not at the end of a line.
constexpr sign anywhere[] = {
    {"EROFS", meaning::read_only},      {"(os error 30)", meaning::read_only},
    {"[Errno 30]", meaning::read_only}, {"Could not resolve host", meaning::network},
    {"ENETUNREACH", meaning::network},  {"EAI_AGAIN", meaning::network},
};

std::string_view without_end(std::string_view line) {
  while (!line.empty() && std::string_view(" \r.)").find(line.back()) != std::string_view::npos) line.remove_suffix(1);
  return line;
}

struct reading {
  meaning is = meaning::nothing;
  std::string_view before;  ///< what stands before the sign
  std::string_view after;
};

reading read_line(std::string_view line) {
  const std::string_view text = without_end(line);
  for (const sign& each : at_end) {
    if (text.ends_with(each.text)) return {each.is, text.substr(0, text.size() - each.text.size()), {}};
  }
  for (const sign& each : anywhere) {
    const auto at = line.find(each.text);
    if (at != line.npos) return {each.is, line.substr(0, at), line.substr(at + each.text.size())};
  }
  return {};
}

struct quotes {
  std::string_view open;
  std::string_view close;
};
constexpr quotes known_quotes[] = {{"\xe2\x80\x98", "\xe2\x80\x99"}, {"'", "'"}, {"\"", "\""}, {"`", "`"}, {"`", "'"}};

/// What stands in the first kind of quotes that the text has.
std::vector<std::string_view> quoted_in(std::string_view text) {
  std::vector<std::string_view> all;
  for (const quotes& each : known_quotes) {
    for (std::size_t at = 0; (at = text.find(each.open, at)) != text.npos;) {
      at += each.open.size();
      const auto end = text.find(each.close, at);
      if (end == text.npos) break;
      if (end > at) all.push_back(text.substr(at, end - at));
      at = end + each.close.size();
    }
    if (!all.empty()) break;
  }
  return all;
}

/// What a message may be about: what is quoted behind the sign ("[Errno 30] Read-only file system: 'X'") or before it ("cannot
/// move 'X' to 'Y': "), or the last word before it ("cannot create X: ").
std::vector<std::string_view> subjects(const reading& seen) {
  auto all = quoted_in(seen.after);
  if (all.empty()) all = quoted_in(seen.before);
  if (!all.empty()) return all;
  std::string_view before = seen.before;
  while (!before.empty() && (before.back() == ' ' || before.back() == ':')) before.remove_suffix(1);
  const auto space = before.find_last_of(" :");
  before = space == before.npos ? before : before.substr(space + 1);
  if (!before.empty()) all.push_back(before);
  return all;
}

bool is_option(const std::string& name) { return name.starts_with("--"); }

class hint_search {
 public:
  hint_search(const isolation_settings& settings, const isolation_plan& plan, const ended_command& command,
              const host_view& host)
      : settings_(settings), plan_(plan), command_(command), host_(host) {}

  std::optional<denial> run() const {
    std::string_view text = command_.error_tail;
    if (text.size() > looked_at) text.remove_prefix(text.size() - looked_at);
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      if (auto found = look_at(text.substr(at, end - at))) return found;
      at = end + 1;
    }
    return std::nullopt;
  }

 private:
  std::optional<denial> look_at(std::string_view line) const {
    const reading seen = read_line(line);
    if (seen.is == meaning::nothing || line.starts_with("[isolation]")) return std::nullopt;
    if (seen.is == meaning::network) return network();
    auto named = subjects(seen);
    if (named.size() > most_subjects) named.resize(most_subjects);
    for (const std::string_view each : named) {
      // What is no path, as in "kill: (1): Operation not permitted", says nothing.
      const bool may_be_none = seen.is == meaning::refused || seen.is == meaning::missing;
      if (may_be_none && each.find('/') == each.npos) continue;
      const std::string path = absolute(each);
      if (auto found = seen.is == meaning::missing ? tmp(path) : write(path, seen.is)) return found;
    }
    if (!named.empty() || seen.is != meaning::read_only) return std::nullopt;
    return blocked({});
  }

  std::optional<denial> network() const {
    if (plan_.network == access_rule::allow || command_.code == 0) return std::nullopt;
    const char* const setting = is_option(settings_.setting_name()) ? "--network deny" : "isolation.network = deny";
    return denial{
        denied_kind::network, {}, std::string("[isolation] network is off for this context (") + setting + ")"};
  }

  std::optional<denial> tmp(const std::string& path) const {
    if (command_.code == 0 || directory_of(path, plan_.tmp_at) == nullptr || directory_of(path, plan_.roots) != nullptr)
      return std::nullopt;
    if (!host_.exists(path)) return std::nullopt;
    return denial{denied_kind::tmp, path,
                  "[isolation] " + plainly(path) +
                      " is on this host, but /tmp is private to this context; writable roots "
                      "are seen through it: add the directory to " +
                      settings_.setting_name()};
  }

  std::optional<denial> write(const std::string& named, meaning how) const {
    const std::string path = host_.real ? host_.real(named) : named;
    const bool is_pinned = std::find(plan_.pinned.begin(), plan_.pinned.end(), path) != plan_.pinned.end();
    const bool is_protected = is_pinned || directory_of(path, plan_.protected_paths) != nullptr;
    if (is_protected && how != meaning::refused) return protected_path(path);
    if (is_protected || how == meaning::busy) return std::nullopt;
    // In a root, or refused outside too: ordinary permissions are the reason.
    if (directory_of(path, plan_.roots) != nullptr || !host_.is_writable(path)) return std::nullopt;
    return blocked(path);
  }

  denial blocked(const std::string& path) const {
    const std::string what = path.empty() ? "a write" : "write to " + plainly(path);
    return {denied_kind::write, path,
            "[isolation] " + what + " may have been blocked: " + roots_advice(plan_.roots, settings_.setting_name())};
  }

  denial protected_path(const std::string& path) const {
    const char* const setting = is_option(settings_.setting_name()) ? "--protect" : "isolation.protected_paths";
    return {denied_kind::write, path,
            "[isolation] write to " + plainly(path) + " was blocked: it is protected (" + setting + ")"};
  }

  std::string absolute(std::string_view path) const {
    return (std::filesystem::path(command_.cwd) / path).lexically_normal().string();
  }

  const isolation_settings& settings_;
  const isolation_plan& plan_;
  const ended_command& command_;
  const host_view& host_;
};

}  // namespace

suspicion suspicion_of(std::string_view line) {
  const meaning seen = read_line(line).is;
  if (seen == meaning::nothing) return suspicion::none;
  return seen == meaning::read_only ? suspicion::strong : suspicion::weak;
}

std::optional<denial> find_denial(const isolation_settings& settings, const isolation_plan& plan,
                                  const ended_command& command, const host_view& host) {
  return hint_search(settings, plan, command, host).run();
}

}  // namespace berth
