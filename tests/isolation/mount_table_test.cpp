#include "isolation/mount_table.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

using namespace berth;

namespace {

using table = std::vector<mount_entry>;

const table host{{"8:1", "/", "/", true},
                 {"0:5", "/", "/dev", true},
                 {"0:20", "/", "/proc", true},
                 {"8:2", "/@home", "/home", true},
                 {"0:40", "/", "/home/u/w/disk", true}};

isolation_plan plan() {
  isolation_plan made;
  made.roots = {"/home/u/w", "/srv/r"};
  made.pinned = {"/home/u/w/.git"};
  made.protected_paths = {"/home/u/w/.git/config"};
  made.tmp = "/var/tmp/own";
  made.tmp_at = {"/tmp", "/var/tmp"};
  return made;
}

/// As it should be.
table good() {
  return {{"8:1", "/", "/", false},
          {"0:99", "/", "/dev", true},
          {"0:5", "/null", "/dev/null", true},
          {"0:98", "/", "/proc", true},
          {"0:98", "/sys", "/proc/sys", false},
          {"8:1", "/var/tmp/own", "/tmp", true},
          {"8:1", "/var/tmp/own", "/var/tmp", true},
          {"8:2", "/@home/u/w", "/home/u/w", true},
          {"0:40", "/", "/home/u/w/disk", true},
          {"8:1", "/srv/r", "/srv/r", true},
          {"8:2", "/@home/u/w/.git", "/home/u/w/.git", true},
          {"8:2", "/@home/u/w/.git/config", "/home/u/w/.git/config", false}};
}

/// As if they had been mounted one after the other.
table mounted(table all) {
  int id = 0;
  for (mount_entry& each : all) {
    each.id = ++id;
    for (const mount_entry& before : all) {
      if (&before == &each) break;
      const bool holds =
          each.point == before.point || before.point == "/" || each.point.starts_with(before.point + "/");
      // The innermost, and of several at one point the last.
      const auto size_of = [&all](int parent) {
        return parent == 0 ? std::size_t{0} : all[static_cast<std::size_t>(parent) - 1].point.size();
      };
      if (holds && before.point.size() >= size_of(each.parent)) each.parent = before.id;
    }
  }
  return all;
}

std::string wrong_in(const isolation_plan& what, const table& inside) {
  return find_wrong_mount(what, mounted(host), mounted(inside));
}

std::string wrong(const table& inside) { return wrong_in(plan(), inside); }

mount_entry& at(table& inside, const std::string& point) {
  for (mount_entry& each : inside) {
    if (each.point == point) return each;
  }
  throw std::logic_error(point);
}

}  // namespace

TEST_CASE("mount table: lines of the kernel") {
  const auto read = parse_mount_table(
      "36 35 98:0 /a\\040b /c\\134d rw,noatime master:1 - ext3 /dev/root rw\n"
      "nonsense\n"
      "37 36 0:5 / /dev ro,nosuid shared:2 - tmpfs tmpfs rw\n"
      "38 37 0:6 / /x rw unbindable - tmpfs master:1 rw\n");
  CHECK(read == table{{"98:0", "/a b", "/c\\d", true, 36, 35, true, "ext3"},
                      {"0:5", "/", "/dev", false, 37, 36, true, "tmpfs"},
                      {"0:6", "/", "/x", true, 38, 37, false, "tmpfs"}});
}

TEST_CASE("mount table: a sandbox as planned is fine") { CHECK(wrong(good()).empty()); }

TEST_CASE("mount table: what is in place of a root, a pin, a protected path or /tmp is named") {
  for (const char* point : {"/home/u/w", "/srv/r", "/home/u/w/.git", "/home/u/w/.git/config", "/tmp", "/var/tmp"}) {
    CAPTURE(point);
    table inside = good();
    at(inside, point).root = "/victim";
    CHECK(wrong(inside) == "'/victim' is at '" + std::string(point) + "'");
    inside = good();
    at(inside, point).device = "8:9";
    CHECK_FALSE(wrong(inside).empty());
    inside = good();
    std::erase_if(inside, [point](const mount_entry& each) { return each.point == point; });
    CHECK_FALSE(wrong(inside).empty());
    inside = good();
    inside.push_back({"8:1", "/victim", point, false});
    CHECK_FALSE(wrong(inside).empty());
  }
}

TEST_CASE("mount table: what this host mounts later must not appear") {
  for (const char* point : {"/", "/home/u/w", "/proc/sys"}) {
    CAPTURE(point);
    table inside = good();
    at(inside, point).is_followed = true;
    CHECK_FALSE(wrong(inside).empty());
  }
}

TEST_CASE("mount table: a protected path that may be written is no protection") {
  table inside = good();
  at(inside, "/home/u/w/.git/config").writable = true;
  CHECK_FALSE(wrong(inside).empty());
}

TEST_CASE("mount table: nothing else of the host may be written, wherever it was mounted") {
  for (const mount_entry& more : table{{"8:1", "/victim", "/home/u/w/.x", true},
                                       {"8:2", "/@home/u/w", "/elsewhere", true},
                                       {"8:2", "/@home", "/home", true},
                                       {"0:40", "/", "/disk", true},
                                       {"0:77", "/", "/gone", true},
                                       {"0:5", "/", "/run", true}}) {
    CAPTURE(more.point);
    table inside = good();
    inside.push_back(more);
    CHECK_FALSE(wrong(inside).empty());
  }
}

TEST_CASE("mount table: what this host has where nobody of ours comes may be anything") {
  table there = host;
  there.push_back({"0:50", "/", "/var/lib/c/merged", true});
  table inside = good();
  inside.push_back({"0:50", "/", "/var/lib/c/merged", true});
  const auto wrong_where = [&](const std::string& barred) {
    const auto is_barred = [&barred](const std::string& path) { return path.starts_with(barred + "/"); };
    return find_wrong_mount(plan(), mounted(there), mounted(inside), is_barred);
  };
  CHECK(wrong_where("/var/lib/c").empty());
  CHECK(wrong_where("/var/lib/d") == "'/' is at '/var/lib/c/merged'");
  inside.back().root = "/other";  // this host has it not there
  CHECK_FALSE(wrong_where("/var/lib/c").empty());
}

TEST_CASE("mount table: what is covered is out of reach") {
  table inside = good();
  // The host has two at /proc, and something in the lower one; bwrap makes read-only what it sees.
  inside.insert(inside.begin() + 1,
                {{"0:20", "/", "/proc", true}, {"0:21", "/", "/proc/in", true}, {"0:20", "/", "/proc", false}});
  CHECK(wrong(inside).empty());
}

TEST_CASE("mount table: what this host has covered beside is out of reach, and what only lies so now is not") {
  // Over a mount that it does not lie in.
  table there = mounted(host);
  there.push_back({"0:30", "/", "/a/b", true, 100, 1});
  there.push_back({"0:31", "/", "/a", true, 101, 1});
  table inside = mounted(good());
  inside.push_back({"0:30", "/", "/a/b", true, 100, 1});
  inside.push_back({"0:31", "/", "/a", false, 101, 1});
  CHECK(find_wrong_mount(plan(), there, inside).empty());
  // A directory with a mount on it was moved below a pin, and can be moved away again.
  table moved = mounted(good());
  const int root = at(moved, "/home/u/w").id;
  moved.push_back({"8:1", "/victim", "/home/u/w/.git/x", true, 100, root});
  CHECK_FALSE(find_wrong_mount(plan(), mounted(host), moved).empty());
}

TEST_CASE("mount table: a masked socket is covered") {
  isolation_plan masking = plan();
  masking.masked_sockets = {"/run/docker.sock", "/tmp/hidden.sock"};
  CHECK_FALSE(wrong_in(masking, good()).empty());
  table inside = good();
  inside.push_back({"0:5", "/null", "/run/docker.sock", false});
  CHECK(wrong_in(masking, inside).empty());
}

TEST_CASE("mount table: in the private /tmp, what holds the place of a root") {
  isolation_plan below = plan();
  below.roots.push_back("/tmp/a/r");
  table inside = good();
  inside.push_back({"8:1", "/var/tmp/own/a", "/tmp/a", true});
  inside.push_back({"8:1", "/tmp/a/r", "/tmp/a/r", true});
  CHECK(wrong_in(below, inside).empty());
  at(inside, "/tmp/a").root = "/tmp/a";
  CHECK_FALSE(wrong_in(below, inside).empty());
}

TEST_CASE("mount table: / as a root") {
  isolation_plan whole = plan();
  whole.roots = {"/"};
  whole.pinned.clear();
  whole.protected_paths.clear();
  table inside = good();
  at(inside, "/").writable = true;
  CHECK(wrong_in(whole, inside).empty());
}

TEST_CASE("mount table: what is the kernel's in a root is told, on the host and inside") {
  const auto typed = [](table all, const std::string& point, const std::string& type) {
    all.push_back({"0:77", "/", point, true});
    all.back().type = type;
    return mounted(all);
  };
  CHECK(find_kernel_mount(plan(), typed(host, "/home/u/w/x", "ext4")).empty());
  CHECK(find_kernel_mount(plan(), typed(host, "/home/u/proc", "proc")).empty());
  for (const char* type : {"proc", "sysfs", "cgroup2"}) {
    const std::string found = find_kernel_mount(plan(), typed(host, "/home/u/w/chroot/proc", type));
    CHECK(
        found.starts_with("'/home/u/w/chroot/proc', of type " + std::string(type) + ", is mounted in a writable root"));
    const table here = typed(host, "/home/u/w/p", type);
    CHECK(find_wrong_mount(plan(), here, typed(good(), "/home/u/w/p", type)).find("of type") != std::string::npos);
  }
  isolation_plan below = plan();
  below.roots = {"/srv/r/proc/1"};
  CHECK(find_kernel_mount(below, typed(host, "/srv/r/proc", "proc")).starts_with("'/srv/r/proc/1', of type proc") ==
        false);
  CHECK(find_kernel_mount(below, typed(host, "/srv/r/proc", "proc")).find("of type proc") != std::string::npos);
  below.roots = {"/"};
  CHECK(find_kernel_mount(below, mounted(host)).empty());
  CHECK_FALSE(find_kernel_mount(below, typed(host, "/chroot/sys", "sysfs")).empty());
}
