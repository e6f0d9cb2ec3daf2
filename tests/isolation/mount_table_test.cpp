#include "isolation/mount_table.hpp"

#include <doctest/doctest.h>

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

std::string wrong(const table& inside) { return find_wrong_mount(plan(), host, inside); }

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
      "37 36 0:5 / /dev ro,nosuid shared:2 - tmpfs tmpfs rw\n");
  CHECK(read == table{{"98:0", "/a b", "/c\\d", true}, {"0:5", "/", "/dev", false}});
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
                                       {"0:5", "/", "/run", true}}) {
    CAPTURE(more.point);
    table inside = good();
    inside.push_back(more);
    CHECK_FALSE(wrong(inside).empty());
  }
}

TEST_CASE("mount table: a masked socket is covered") {
  isolation_plan masking = plan();
  masking.masked_sockets = {"/run/docker.sock", "/tmp/hidden.sock"};
  CHECK_FALSE(find_wrong_mount(masking, host, good()).empty());
  table inside = good();
  inside.push_back({"0:5", "/null", "/run/docker.sock", false});
  CHECK(find_wrong_mount(masking, host, inside).empty());
}

TEST_CASE("mount table: in the private /tmp, what holds the place of a root") {
  isolation_plan below = plan();
  below.roots.push_back("/tmp/a/r");
  table inside = good();
  inside.push_back({"8:1", "/var/tmp/own/a", "/tmp/a", true});
  inside.push_back({"8:1", "/tmp/a/r", "/tmp/a/r", true});
  CHECK(find_wrong_mount(below, host, inside).empty());
  at(inside, "/tmp/a").root = "/tmp/a";
  CHECK_FALSE(find_wrong_mount(below, host, inside).empty());
}

TEST_CASE("mount table: / as a root") {
  isolation_plan whole = plan();
  whole.roots = {"/"};
  whole.pinned.clear();
  whole.protected_paths.clear();
  table inside = good();
  at(inside, "/").writable = true;
  CHECK(find_wrong_mount(whole, host, inside).empty());
}
