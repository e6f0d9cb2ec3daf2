#include "isolation/hint.hpp"

#include "core/paths.hpp"
#include "isolation/hint_text.hpp"
#include "isolation/roots_advice.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace berth {
namespace {

constexpr std::size_t looked_at = 65536;
/// What a line names beyond this is not asked about.
constexpr std::size_t most_subjects = 4;

bool is_option(const std::string& name) { return name.starts_with("--"); }

class hint_search {
 public:
  hint_search(const isolation_settings& settings, const isolation_plan& plan, const ended_command& command,
              const host_view& host)
      : settings_(settings), plan_(plan), command_(command), host_(host) {}

  std::optional<denial> run() {
    std::string_view text = command_.error_tail;
    if (text.size() > looked_at) text.remove_prefix(text.size() - looked_at);
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      auto found = look_at(text.substr(at, end - at));
      if (found && (!unnamed_ || found->kind == denied_kind::write)) return found;
      at = end + 1;
    }
    if (!unnamed_) return std::nullopt;
    auto found = near_.empty() ? std::nullopt : write(near_, meaning::read_only);
    return found ? found : blocked({});
  }

 private:
  std::optional<denial> look_at(std::string_view line) {
    reading seen = read_line(line);
    if (seen.is == meaning::network || seen.is == meaning::refused_by_host) return network(seen.is);
    if (seen.is == meaning::unix_socket) return unix_socket();
    if (seen.named.size() > most_subjects) seen.named.resize(most_subjects);
    if (seen.is == meaning::failed) {
      // The last one before the reason; without one, the first behind it.
      if ((!unnamed_ || near_.empty()) && seen.named.front().starts_with('/')) near_ = absolute(seen.named.front());
      return std::nullopt;
    }
    for (const std::string_view each : seen.named) {
      if (auto found = about(each, seen.is)) return found;
    }
    if (seen.named.empty() && seen.is == meaning::read_only) unnamed_ = true;
    return std::nullopt;
  }

  std::optional<denial> about(std::string_view named, meaning how) {
    // What is no path, as in "kill: (1): Operation not permitted", says nothing.
    const bool may_be_none = how == meaning::refused || how == meaning::missing;
    if (how == meaning::nothing || (may_be_none && named.find('/') == named.npos)) return std::nullopt;
    const std::string path = absolute(named);
    if (how == meaning::missing) return tmp(path);
    return named.starts_with('/') ? write(path, how) : relative_write(named, path, how);
  }

  std::optional<denial> network(meaning how) const {
    if (plan_.network == access_rule::allow || command_.code == 0) return std::nullopt;
    std::string line = "[isolation] network is off for this context (";
    line += is_option(settings_.setting_name()) ? "--network deny)" : "isolation.network = deny)";
    if (how == meaning::refused_by_host) line += "; the loopback of this host is out of reach too";
    return denial{denied_kind::network, {}, std::move(line)};
  }

  std::optional<denial> unix_socket() const {
    if (plan_.unix_sockets == access_rule::allow || command_.code == 0) return std::nullopt;
    std::string line = "[isolation] unix sockets are denied in this context (";
    line += is_option(settings_.setting_name()) ? "--unix-sockets)" : "isolation.unix_sockets = deny)";
    return denial{denied_kind::unix_socket, {}, std::move(line)};
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

  bool is_protected(const std::string& path) const {
    return std::find(plan_.pinned.begin(), plan_.pinned.end(), path) != plan_.pinned.end() ||
           directory_of(path, plan_.protected_paths) != nullptr;
  }

  std::string real(const std::string& path) const { return host_.real ? host_.real(path) : path; }

  std::optional<denial> write(const std::string& named, meaning how) const {
    const std::string path = real(named);
    const bool is_ours = is_protected(path);
    if (is_ours && how != meaning::refused) return protected_path(path);
    if (is_ours || how == meaning::busy) return std::nullopt;
    // In a root, or refused outside too: ordinary permissions are the reason.
    if (directory_of(path, plan_.roots) != nullptr || !host_.is_writable(path)) return std::nullopt;
    return blocked(path);
  }

  /// The command may have changed its directory: a place is told only where something speaks for it.
  std::optional<denial> relative_write(std::string_view named, const std::string& guess, meaning how) {
    const std::string path = real(guess);
    if (is_protected(path)) return write(path, how);
    if (how != meaning::refused) {
      if (const auto found = protected_end(named, how); !found.empty()) return protected_path(found);
    }
    if (how == meaning::busy) return std::nullopt;
    const bool is_inside = directory_of(path, plan_.roots) != nullptr;
    if (!is_inside && is_likely(named, guess)) return write(path, how);
    // One that is writable and in a root cannot be what was read-only: it was another.
    if (how != meaning::read_only || command_.code == 0 || (is_inside && !host_.is_writable(path))) return std::nullopt;
    unnamed_ = true;
    return std::nullopt;
  }

  /// Is it there, or in a directory that its name tells? "../x" would be in any.
  bool is_likely(std::string_view named, const std::string& guess) const {
    const std::filesystem::path directory = std::filesystem::path(named).lexically_normal().parent_path();
    if (host_.exists(guess)) return true;
    if (directory.empty() || directory.filename() == "..") return false;
    return host_.exists(std::filesystem::path(guess).parent_path().string());
  }

  /// The protected path that ends as the name begins, and what the name has below it. One word is enough where it is busy: little
  /// else is.
  std::string protected_end(std::string_view named, meaning how) const {
    std::string name = std::filesystem::path(named).lexically_normal().string();
    while (name.starts_with("../")) name.erase(0, 3);
    for (auto end = name.size(); end != name.npos && end > 0; end = name.rfind('/', end - 1)) {
      const std::string begin = "/" + name.substr(0, end);
      if (how != meaning::busy && begin.rfind('/') == 0) break;
      for (const auto* all : {&plan_.protected_paths, &plan_.pinned}) {
        if (all == &plan_.pinned && end != name.size()) continue;
        for (const std::string& each : *all) {
          if (each.ends_with(begin)) return each + name.substr(end);
        }
      }
    }
    return {};
  }

  denial blocked(const std::string& path) const {
    const std::string what = path.empty() ? "a write" : "write to " + plainly(path);
    return {denied_kind::write, path, "[isolation] " + what + " may have been blocked: " + advice(path)};
  }

  std::string advice(const std::string& path) const {
    const std::string& setting = settings_.setting_name();
    if (path.empty()) return roots_advice(plan_.roots, setting);
    if (is_at_or_below(path, "/proc") || is_at_or_below(path, "/sys")) return "it is read-only in every context";
    for (const std::string& each : settings_.writable_roots()) {
      const std::string root = real(from_root(each));
      if (is_at_or_below(path, root)) {
        return plainly(root) + " is in " + setting +
               ", but was not there when the context was made: it must exist first";
      }
    }
    const std::string directory = std::filesystem::path(path).parent_path().string();
    if (directory == "/" || (host_.is_wide && host_.is_wide(directory)))
      return root_names(plan_.roots) + " (" + setting + ")";
    return roots_advice(plan_.roots, setting);
  }

  /// Without a slash at the end. The working directory of the handle is the first root, or below it.
  std::string from_root(const std::string& path) const {
    const std::string start = plan_.roots.empty() ? std::string(command_.cwd) : plan_.roots.front();
    std::string text = (std::filesystem::path(start) / path).lexically_normal().string();
    while (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text;
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
  /// Something was read-only, and no line told what.
  bool unnamed_ = false;
  /// What failed, by a line near by.
  std::string near_;
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
