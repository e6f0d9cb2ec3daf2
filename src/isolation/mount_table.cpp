#include "isolation/mount_table.hpp"

#include "core/paths.hpp"
#include "core/shown_path.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

namespace berth {
namespace {

/// Blanks, tabs, newlines and backslashes are written as \040.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto digit = [&text, at](std::size_t i) { return static_cast<unsigned>(text[at + i] - '0'); };
    const bool is_code = text[at] == '\\' && at + 3 < text.size() && digit(1) < 4 && digit(2) < 8 && digit(3) < 8;
    if (!is_code) {
      plain += text[at];
      continue;
    }
    plain += static_cast<char>(digit(1) << 6U | digit(2) << 3U | digit(3));
    at += 3;
  }
  return plain;
}

bool has_word(std::string_view list, std::string_view word) {
  for (std::size_t at = 0; at <= list.size();) {
    const auto end = std::min(list.find(',', at), list.size());
    if (list.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

std::optional<mount_entry> parse_line(std::string_view line) {
  // 36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw,errors=continue
  std::array<std::string_view, 6> field;
  for (std::string_view& each : field) {
    const auto end = line.find(' ');
    if (end == line.npos) return std::nullopt;
    each = line.substr(0, end);
    line.remove_prefix(end + 1);
  }
  mount_entry entry;
  std::from_chars(field[0].data(), field[0].data() + field[0].size(), entry.id);
  std::from_chars(field[1].data(), field[1].data() + field[1].size(), entry.parent);
  entry.device = field[2];
  entry.root = unescaped(field[3]);
  entry.point = unescaped(field[4]);
  entry.writable = has_word(field[5], "rw");
  for (std::string_view tag; tag != "-" && !line.empty();) {
    const auto end = std::min(line.find(' '), line.size());
    tag = line.substr(0, end);
    entry.is_followed = entry.is_followed || tag.starts_with("master:") || tag.starts_with("shared:");
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  entry.type = line.substr(0, line.find(' '));
  return entry;
}

/// Through these a command would change the settings of the kernel, or see the processes outside.
bool is_of_kernel(const std::string& type) {
  constexpr std::array<std::string_view, 17> types{
      "proc",     "sysfs",  "cgroup", "cgroup2", "debugfs", "tracefs",   "securityfs", "configfs",  "binfmt_misc",
      "efivarfs", "pstore", "bpf",    "fusectl", "nfsd",    "selinuxfs", "smackfs",    "rpc_pipefs"};
  return std::find(types.begin(), types.end(), type) != types.end();
}

/// Over /proc, /sys and /dev lies what the sandbox has of its own.
bool exposes_kernel(const mount_entry& entry, const std::vector<std::string>& roots) {
  if (!is_of_kernel(entry.type) || directory_of(entry.point, roots) == nullptr) return false;
  return directory_of(entry.point, {"/proc", "/sys", "/dev"}) == nullptr;
}

std::string tell_kernel_mount(const mount_entry& entry) {
  return shown_path(entry.point) + ", of type " + entry.type +
         ", is mounted in a writable root: settings of the kernel could be changed through it (unmount it, or choose "
         "a root that does not hold it)";
}

/// Does another one lie on its very root? Whatever is renamed, every path to it leads there.
bool is_covered(const std::vector<mount_entry>& table, const mount_entry& entry) {
  return std::any_of(table.begin(), table.end(), [&entry](const mount_entry& other) {
    return other.id != entry.id && other.parent == entry.id && other.point == entry.point;
  });
}

/// Does another one lie beside it, on what holds its place?
bool is_below_another(const std::vector<mount_entry>& table, const mount_entry& entry) {
  return std::any_of(table.begin(), table.end(), [&entry](const mount_entry& other) {
    return other.parent == entry.parent && other.point != entry.point && is_at_or_below(entry.point, other.point);
  });
}

/// `by_names`: also what was covered beside. Not where somebody may rename the places.
bool is_visible(const std::vector<mount_entry>& table, const mount_entry& entry, bool by_names) {
  if (is_covered(table, entry) || (by_names && is_below_another(table, entry))) return false;
  const auto holds = [&entry](const mount_entry& each) { return each.id == entry.parent && each.id != entry.id; };
  const auto parent = std::find_if(table.begin(), table.end(), holds);
  // What covers its parent's root is seen itself.
  return parent == table.end() || parent->point == entry.point || is_visible(table, *parent, by_names);
}

std::vector<mount_entry> visible_mounts(const std::vector<mount_entry>& table, bool by_names) {
  std::vector<mount_entry> all;
  for (const mount_entry& each : table) {
    if (is_visible(table, each, by_names)) all.push_back(each);
  }
  return all;
}

bool is_same_mount(const mount_entry& a, const mount_entry& b) {
  return a.device == b.device && a.root == b.root && a.point == b.point;
}

/// bwrap makes read-only what it sees. What this host has covered comes along, and stays covered.
std::vector<mount_entry> seen_inside(const std::vector<mount_entry>& host, const std::vector<mount_entry>& inside) {
  std::vector<mount_entry> seen = visible_mounts(inside, false);
  for (const mount_entry& each : host) {
    if (is_visible(host, each, true)) continue;
    std::erase_if(seen,
                  [&](const mount_entry& one) { return is_same_mount(one, each) && is_below_another(inside, one); });
  }
  return seen;
}

const mount_entry* find_at(const std::vector<mount_entry>& table, std::string_view point) {
  const auto found =
      std::find_if(table.rbegin(), table.rend(), [point](const auto& each) { return each.point == point; });
  return found == table.rend() ? nullptr : &*found;
}

/// As a mount of the path would be.
std::optional<mount_entry> source_of(const std::vector<mount_entry>& host, const std::string& path) {
  const mount_entry* holder = nullptr;
  for (const mount_entry& each : host) {
    if (!is_at_or_below(path, each.point)) continue;
    if (holder == nullptr || each.point.size() >= holder->point.size()) holder = &each;
  }
  if (holder == nullptr) return std::nullopt;
  mount_entry source = *holder;
  const std::string rest = path.substr(holder->point == "/" ? 0 : holder->point.size());
  if (!rest.empty() && rest != "/") source.root = (holder->root == "/" ? "" : holder->root) + rest;
  return source;
}

class mount_check {
 public:
  mount_check(const isolation_plan& plan, std::vector<mount_entry> host, std::vector<mount_entry> inside,
              const barred_path& is_barred)
      : plan_(plan), host_(std::move(host)), inside_(std::move(inside)), is_barred_(is_barred) {}

  std::string run() const {
    std::string wrong;
    const auto note = [&wrong](std::string found) {
      if (wrong.empty()) wrong = std::move(found);
    };
    for (const std::string& each : plan_.tmp_at) {
      if (directory_of(each, plan_.roots) == nullptr) note(compare(each, plan_.tmp, true));
    }
    for (const std::string& each : plan_.roots) note(compare(each, each, true));
    for (const std::string& each : plan_.pinned) note(compare(each, each, true));
    for (const std::string& each : plan_.protected_paths) note(compare(each, each, false));
    for (const auto* list : {&plan_.masked_sockets, &plan_.masked_directories}) {
      for (const std::string& each : *list) note(masked(each));
    }
    for (const mount_entry& each : inside_) {
      if (each.writable && !may_be_written(each)) note(shown_path(each.root) + " is at " + shown_path(each.point));
    }
    for (const mount_entry& each : inside_) {
      if (exposes_kernel(each, plan_.roots)) note(tell_kernel_mount(each));
    }
    for (const mount_entry& each : inside_) {
      if (each.is_followed) note("what is mounted at " + shown_path(each.point) + " later would appear there");
    }
    return wrong;
  }

 private:
  std::string compare(const std::string& point, const std::string& path, bool writable) const {
    const mount_entry* found = find_at(inside_, point);
    if (found == nullptr) return "nothing is mounted at " + shown_path(point);
    const auto wanted = source_of(host_, path);
    if (!wanted) return shown_path(path) + " is on no mount of this host";
    if (found->device != wanted->device || found->root != wanted->root)
      return shown_path(found->root) + " is at " + shown_path(point);
    // What the host has read-only stays so.
    if (found->writable && !writable) return shown_path(point) + " may be written";
    return {};
  }

  std::string masked(const std::string& point) const {
    // Below the private /tmp it is not seen at all.
    const bool is_hidden = directory_of(point, plan_.tmp_at) != nullptr && directory_of(point, plan_.roots) == nullptr;
    if (is_hidden || find_at(inside_, point) != nullptr) return {};
    return shown_path(point) + " is not hidden";
  }

  bool may_be_written(const mount_entry& entry) const {
    if (directory_of("/", plan_.roots) != nullptr) return true;
    if (is_at_or_below(entry.point, "/dev")) return true;  // in memory, with a few harmless devices
    const auto is_of_host = [&entry](const mount_entry& each) { return each.device == entry.device; };
    if (std::none_of(host_.begin(), host_.end(), is_of_host)) {
      // Its own, unless this host had it for a moment.
      const auto& masks = plan_.masked_directories;
      return entry.point == "/proc" || std::find(masks.begin(), masks.end(), entry.point) != masks.end();
    }
    const auto is_source = [this, &entry](const std::string& path) {
      const auto wanted = source_of(host_, path);
      return wanted && wanted->device == entry.device && wanted->root == entry.root;
    };
    // The private /tmp, and what in it holds the places of roots.
    const std::string* above = directory_of(entry.point, plan_.tmp_at);
    if (above != nullptr && is_source(plan_.tmp + entry.point.substr(above->size()))) return true;
    for (const auto* list : {&plan_.roots, &plan_.pinned}) {
      const bool is_here = std::find(list->begin(), list->end(), entry.point) != list->end();
      if (is_here && is_source(entry.point)) return true;
    }
    // A root brings with it what this host has mounted below.
    const auto is_same = [&entry](const mount_entry& each) { return is_same_mount(each, entry); };
    if (std::none_of(host_.begin(), host_.end(), is_same)) return false;
    return directory_of(entry.point, plan_.roots) != nullptr || (is_barred_ && is_barred_(entry.point));
  }

  const isolation_plan& plan_;
  const std::vector<mount_entry> host_;
  const std::vector<mount_entry> inside_;
  const barred_path& is_barred_;
};

}  // namespace

std::vector<mount_entry> parse_mount_table(std::string_view text) {
  std::vector<mount_entry> table;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    if (auto entry = parse_line(text.substr(at, end - at))) table.push_back(std::move(*entry));
    at = end + 1;
  }
  return table;
}

std::string find_kernel_mount(const isolation_plan& plan, const std::vector<mount_entry>& host) {
  const auto seen = visible_mounts(host, true);
  for (const mount_entry& each : seen) {
    if (exposes_kernel(each, plan.roots)) return tell_kernel_mount(each);
  }
  for (const std::string& root : plan.roots) {
    const auto source = source_of(seen, root);
    if (source && root != "/" && is_of_kernel(source->type)) return tell_kernel_mount(*source);
  }
  return {};
}

std::string find_wrong_mount(const isolation_plan& plan, const std::vector<mount_entry>& host,
                             const std::vector<mount_entry>& inside, const barred_path& is_barred) {
  return mount_check(plan, visible_mounts(host, true), seen_inside(host, inside), is_barred).run();
}

}  // namespace berth
