#include "isolation/plan.hpp"

#include "core/paths.hpp"
#include "support/temp_dir.hpp"
#include "support/variable.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

namespace {

using paths = std::vector<std::string>;

std::string real(const fs::path& path) { return fs::canonical(path).string(); }

isolation_plan plan_of(paths roots, const isolation_settings& settings = {}, const logger& log = {}) {
  for (std::string& each : roots) each = real(each);
  return make_isolation_plan(settings, std::move(roots), {}, log);
}

void make_repository(const fs::path& at) {
  fs::create_directories(at / ".git/hooks");
  fs::create_directories(at / ".git/objects");
  write_whole_file(at / ".git/config", "");
  write_whole_file(at / ".git/HEAD", "ref: refs/heads/main\n");
}

/// As `git worktree add` does it.
void make_worktree(const fs::path& repository, const fs::path& at, const std::string& name) {
  const fs::path own = repository / ".git/worktrees" / name;
  fs::create_directories(own);
  fs::create_directories(at);
  write_whole_file(at / ".git", "gitdir: " + own.string() + "\n");
  write_whole_file(own / "gitdir", fs::canonical(at).string() + "/.git\n");
  write_whole_file(own / "commondir", "../..\n");
  write_whole_file(own / "HEAD", "ref: refs/heads/other\n");
}

bool has(const paths& list, const std::string& path) { return std::find(list.begin(), list.end(), path) != list.end(); }

/// Every file below a directory.
std::set<std::string> all_in(const fs::path& directory) {
  std::set<std::string> all;
  for (const auto& each : fs::recursive_directory_iterator(directory)) all.insert(each.path().string());
  return all;
}

}  // namespace

TEST_CASE("plan: hooks and config of a repository are protected, and what holds them is pinned") {
  const temp_dir at;
  make_repository(at / "r");
  const auto plan = plan_of({at / "r"});
  CHECK(plan.protected_paths == paths{real(at / "r/.git/config"), real(at / "r/.git/hooks")});
  CHECK(plan.pinned == paths{real(at / "r/.git")});
}

TEST_CASE("plan: what is not there is not protected, and nothing is made") {
  const temp_dir at;
  fs::create_directories(at / "r/.git");
  const auto before = all_in(at.path());
  const auto settings = isolation_settings().protected_paths({".git/hooks", "a/b", at / "r/none", "/none/at/all"});
  const auto plan = plan_of({at / "r"}, settings);
  CHECK(plan.protected_paths.empty());
  CHECK(plan.pinned.empty());
  CHECK(all_in(at.path()) == before);
}

TEST_CASE("plan: protected paths lie in a root, once, and none below another; outer pins come first") {
  const temp_dir at;
  fs::create_directories(at / "r/a/b/c");
  fs::create_directories(at / "r/a-x");
  fs::create_directories(at / "out");
  const auto settings = isolation_settings().protected_paths({"a/b/c", "a/b/../b/c", at / "out", "a/b/c/..", "a-x"});
  const auto plan = plan_of({at / "r"}, settings);
  CHECK(plan.protected_paths == paths{real(at / "r/a-x"), real(at / "r/a/b")});
  CHECK(plan.pinned == paths{real(at / "r/a")});
  const auto deep = plan_of({at / "r"}, isolation_settings().protected_paths({"a/b/c"}));
  CHECK(deep.pinned == paths{real(at / "r/a"), real(at / "r/a/b")});
}

TEST_CASE("plan: a protected path is taken by its text, so that nothing before a .. can be taken away") {
  const temp_dir at;
  fs::create_directories(at / "r");
  write_whole_file(at / "r/secret", "");
  const auto settings = isolation_settings().protected_paths({"none/../secret", "secret/"});
  CHECK(plan_of({at / "r"}, settings).protected_paths == paths{real(at / "r/secret")});
}

TEST_CASE("plan: a root may be protected as a whole, and a link is protected where it leads") {
  const temp_dir at;
  fs::create_directories(at / "r/real");
  fs::create_directory_symlink("real", at / "r/link");
  CHECK(plan_of({at / "r"}, isolation_settings().protected_paths({"link"})).protected_paths ==
        paths{real(at / "r/real")});
  const auto whole = plan_of({at / "r"}, isolation_settings().protected_paths({at / "r", "real"}));
  CHECK(whole.protected_paths == paths{real(at / "r")});
  CHECK(whole.pinned.empty());
}

TEST_CASE("plan: what cannot be looked at may be there, so there is no plan") {
  const temp_dir at;
  make_repository(at / "r");
  isolation_settings settings;
  std::string cause;
  SUBCASE("a link that leads to itself") {
    fs::remove_all(at / "r/.git/hooks");
    fs::create_symlink("hooks", at / "r/.git/hooks");
    cause = ".git/hooks' cannot be looked at, so it cannot be protected: Too many levels";
  }
  SUBCASE("a name that is too long") {
    settings.protected_paths({std::string(300, 'a')});
    cause = "so it cannot be protected: File name too long (";
  }
  try {
    (void)plan_of({at / "r"}, settings);
    FAIL("a plan was made");
  } catch (const error& failure) {
    CHECK_MESSAGE(failure.message().find(cause) != std::string::npos, failure.message());
    CHECK(failure.message().find('\n') == std::string::npos);
  }
}

TEST_CASE("plan: the repository of a worktree is a root, with its hooks and config protected") {
  const temp_dir at;
  make_repository(at / "main");
  make_worktree(at / "main", at / "tree", "tree");
  const auto plan = plan_of({at / "tree"});
  CHECK(plan.roots == paths{real(at / "tree"), real(at / "main/.git")});
  for (const char* each : {"tree/.git", "main/.git/hooks", "main/.git/config", "main/.git/worktrees/tree/gitdir",
                           "main/.git/worktrees/tree/commondir"}) {
    CAPTURE(each);
    CHECK(has(plan.protected_paths, real(at / each)));
  }
  CHECK(plan.pinned == paths{real(at / "main/.git/worktrees"), real(at / "main/.git/worktrees/tree")});
}

TEST_CASE("plan: a worktree inside the root of its repository adds no root") {
  const temp_dir at;
  make_repository(at / "main");
  make_worktree(at / "main", at / "main/trees/one", "one");
  const auto both = plan_of({at / "main", at / "main/trees/one"});
  CHECK(both.roots == paths{real(at / "main")});
  CHECK(has(both.protected_paths, real(at / "main/.git/hooks")));
  CHECK(has(both.protected_paths, real(at / "main/trees/one/.git")));
}

TEST_CASE("plan: a root below another one is protected in, and not mounted") {
  const temp_dir at;
  make_repository(at / "r/sub");
  fs::create_directories(at / "r/plain");
  const auto plan =
      plan_of({at / "r", at / "r/sub", at / "r/plain"}, isolation_settings().protected_paths({".git/hooks"}));
  CHECK(plan.roots == paths{real(at / "r")});
  CHECK(plan.protected_paths == paths{real(at / "r/sub/.git/hooks")});
  CHECK(plan.pinned == paths{real(at / "r/sub"), real(at / "r/sub/.git")});  // "plain" may be moved
}

TEST_CASE("plan: a worktree below another root has its repository protected, wherever both lie") {
  const temp_dir at;
  make_repository(at / "r/main");
  make_worktree(at / "r/main", at / "r/tree", "tree");
  const auto plan = plan_of({at / "r/tree", at / "r"});
  CHECK(plan.roots == paths{real(at / "r")});
  for (const char* each : {"tree/.git", "main/.git/hooks", "main/.git/config", "main/.git/worktrees/tree/commondir"}) {
    CAPTURE(each);
    CHECK(has(plan.protected_paths, real(at.path() / "r" / each)));
  }
  // One that lies elsewhere is opened for it, as for a root of its own.
  make_worktree(at / "r/main", at / "other/tree", "other");
  const auto elsewhere = plan_of({at / "other", at / "other/tree"});
  CHECK(elsewhere.roots == paths{real(at / "other"), real(at / "r/main/.git")});
  CHECK(has(elsewhere.protected_paths, real(at / "r/main/.git/hooks")));
}

TEST_CASE("plan: in a submodule what git keeps of it in the repository around is protected") {
  const temp_dir at;
  make_repository(at / "r");
  fs::create_directories(at / "r/.git/modules/sub/hooks");
  write_whole_file(at / "r/.git/modules/sub/config", "");
  fs::create_directories(at / "r/sub");
  write_whole_file(at / "r/sub/.git", "gitdir: ../.git/modules/sub\n");
  const auto plan = plan_of({at / "r/sub", at / "r"});
  CHECK(plan.roots == paths{real(at / "r")});
  for (const char* each : {"sub/.git", ".git/hooks", ".git/modules/sub/hooks", ".git/modules/sub/config"}) {
    CAPTURE(each);
    CHECK(has(plan.protected_paths, real(at.path() / "r" / each)));
  }
}

TEST_CASE("plan: a link by which all of a root would be protected is an error, which names it") {
  const temp_dir at;
  make_repository(at / "r");
  make_repository(at / "other");
  fs::remove_all(at / "r/.git/hooks");
  std::string target;
  SUBCASE("what holds the link") { target = "."; }
  SUBCASE("the root") { target = ".."; }
  SUBCASE("what is above it") { target = at.path().string(); }
  SUBCASE("another root") { target = "../../other"; }
  fs::create_directory_symlink(target, at / "r/.git/hooks");
  try {
    (void)plan_of({at / "r", at / "other"});
    FAIL("a plan was made");
  } catch (const error& failure) {
    CHECK(failure.message().find(".git/hooks' leads over a link to ") != std::string::npos);
    CHECK(failure.message().find("remove the link") != std::string::npos);
  }
  fs::remove(at / "r/.git/hooks");
  fs::create_directories(at / "r/src");
  fs::create_directory_symlink("../src", at / "r/.git/hooks");
  CHECK(has(plan_of({at / "r", at / "other"}).protected_paths, real(at / "r/src")));
}

TEST_CASE("plan: in a root that is itself a repository hooks and config are protected, and what tells that stays") {
  const temp_dir at;
  make_repository(at / "r");
  fs::create_directories(at / "r/.git/refs");
  fs::create_directories(at / "r/sub");
  const auto plan = plan_of({at / "r/sub", at / "r/.git"});
  CHECK(plan.protected_paths == paths{real(at / "r/.git/config"), real(at / "r/.git/hooks")});
  CHECK(plan.pinned == paths{real(at / "r/.git/objects"), real(at / "r/.git/refs")});
  fs::remove(at / "r/.git/refs");
  const auto before = plan_of({at / "r/.git"});
  CHECK(before.protected_paths.empty());
  CHECK(has(before.looked_at, real(at / "r/.git") + "/refs"));
  fs::create_directories(at / "r/.git/refs");
  const auto all = plan_of({at / "r/.git"}, isolation_settings().protected_paths({"objects", ".git/hooks"}));
  CHECK(all.pinned == paths{real(at / "r/.git/refs")});  // what is protected lies over its pin
}

TEST_CASE("plan: what holds a masked socket in a root stays") {
  const temp_dir at;
  fs::create_directories(at / "r/a/b");
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = at / "r/a/b/s";
  REQUIRE(path.size() < sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  REQUIRE(::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  ::close(made);
  const variable_is agent("SSH_AUTH_SOCK", path);
  const auto settings = isolation_settings().unix_sockets(access_rule::allow);
  const auto plan = plan_of({at / "r"}, settings);
  CHECK(plan.masked_sockets == paths{real(path)});
  CHECK(plan.pinned == paths{real(at / "r/a"), real(at / "r/a/b")});
  // With a private /tmp over it there is nothing to hide.
  const auto whole = make_isolation_plan(settings, {"/"}, "/own");
  CHECK(has(whole.masked_sockets, real(path)) == (directory_of(real(path), whole.tmp_at) == nullptr));
  for (const std::string& each : whole.pinned) CHECK(directory_of(each, whole.tmp_at) == nullptr);
}

TEST_CASE("plan: a .git file that a command wrote opens nothing") {
  const temp_dir at;
  make_repository(at / "victim");
  fs::create_directories(at / "r");
  int warnings = 0;
  const log_function count = [&warnings](log_level level, std::string_view) {
    warnings += level == log_level::warning;
  };
  const logger log(count);

  SUBCASE("one that names another repository") {
    write_whole_file(at / "r/.git", "gitdir: " + (at / "victim/.git") + "\n");
  }
  SUBCASE("one that names the worktree of somebody else") {
    make_worktree(at / "victim", at / "theirs", "theirs");
    write_whole_file(at / "r/.git", "gitdir: " + (at / "victim/.git/worktrees/theirs") + "\n");
  }
  SUBCASE("one whose other half is forged inside the root") {
    fs::create_directories(at / "r/worktrees/x");
    write_whole_file(at / "r/worktrees/x/gitdir", at / "r/.git\n");
    write_whole_file(at / "r/worktrees/x/commondir", at / "victim/.git\n");
    write_whole_file(at / "r/.git", "gitdir: worktrees/x\n");
  }
  SUBCASE("one that reaches the place of a worktree that is gone, by a link") {
    make_worktree(at / "victim", at / "r/gone", "old");
    fs::remove_all(at / "r/gone");
    fs::create_directory_symlink(".", at / "r/gone");
    write_whole_file(at / "r/.git", "gitdir: " + (at / "victim/.git/worktrees/old") + "\n");
  }
  SUBCASE("one that is a living worktree's own, by a hard link") {
    make_worktree(at / "victim", at / "r/living", "living");
    fs::create_hard_link(at / "r/living/.git", at / "r/.git");
  }
  const auto plan = plan_of({at / "r"}, {}, log);
  CHECK(plan.roots == paths{real(at / "r")});
  CHECK(has(plan.protected_paths, real(at / "r/.git")));
  CHECK(warnings == 1);
}

TEST_CASE("plan: a repository that a command made in the private /tmp is opened by nothing") {
  const temp_dir at;
  make_repository(at / "own/r");
  make_worktree(at / "own/r", at / "w", "w");
  const auto plan = make_isolation_plan({}, {real(at / "w")}, real(at / "own"));
  CHECK(plan.roots == paths{real(at / "w")});
  const auto otherwise = make_isolation_plan({}, {real(at / "w")}, {});
  CHECK(otherwise.roots == paths{real(at / "w"), real(at / "own/r/.git")});
}

TEST_CASE("plan: beside / as a root, those are roots over which a private /tmp would lie") {
  const temp_dir at;
  make_repository(at / "w");
  fs::create_directories(at / "w/sub");
  const paths asked{real(at / "w/sub"), "/", "/usr", real(at / "w")};
  const auto plan = make_isolation_plan({}, asked, "/own");
  if (directory_of(real(at / "w"), plan.tmp_at) == nullptr) return;
  CHECK(plan.roots == paths{real(at / "w"), "/"});
  CHECK(has(plan.protected_paths, real(at / "w/.git/config")));
  CHECK(plan.pinned == paths{real(at / "w/.git")});
  CHECK(make_isolation_plan({}, asked, {}).roots == paths{"/"});
}

TEST_CASE("plan: a .git file that says nothing is left alone") {
  const temp_dir at;
  fs::create_directories(at / "r");
  for (const char* text : {"", "gitdir: ", "gitdir: none\n", "other\n", "gitdir: .\0x"}) {
    write_whole_file(at / "r/.git", text);
    CHECK_NOTHROW((void)plan_of({at / "r"}));
    CHECK(plan_of({at / "r"}).roots.size() == 1);
  }
}

TEST_CASE("plan: sockets are masked only where unix sockets are allowed") {
  const temp_dir at;
  const auto denied = plan_of({at.path()});
  CHECK(denied.masked_sockets.empty());
  CHECK(denied.masked_directories.empty());
  const auto allowed = plan_of({at.path()}, isolation_settings().unix_sockets(access_rule::allow));
  if (fs::is_directory("/run/user")) CHECK(has(allowed.masked_directories, real("/run/user")));
}

TEST_CASE("plan: a private /tmp is seen at the real paths of /tmp and /var/tmp") {
  const temp_dir at;
  const auto plan = make_isolation_plan({}, {real(at.path())}, "/own");
  CHECK(plan.tmp == "/own");
  CHECK(has(plan.tmp_at, real("/tmp")));
  CHECK(plan_of({at.path()}).tmp_at.empty());
}
