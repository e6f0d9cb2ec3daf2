/// What is protected stays so, whatever a command does to hide it from the next look.
#include "isolation_cases/case_site.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

task<exec_result> run_once(asio::io_context& io, const case_site& site, isolation_settings settings, std::string text) {
  auto [place, where] = co_await open_site(io, site, std::move(settings));
  exec_result got = co_await place.exec(where, command(std::move(text)).merge_stderr());
  co_await place.destroy(where);
  co_return got;
}

bool is_root() { return ::geteuid() == 0; }

/// Closed directories are no hindrance to root, who sees what lies in them.
void check_closed(const exec_result& got, const std::string& cause) {
  CAPTURE(got.std_out);
  CAPTURE(got.status.message());
  if (is_root()) return;
  CHECK(got.status.reason() == end_reason::start_failed);
  CHECK(got.status.message().find(cause) != std::string::npos);
}

ASYNC_TEST_FOR("isolation, protected: a command that closes what holds it ends the commands, not the protection",
               case_patience) {
  if (lacks("a command that closes what holds it")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  exec_result got = co_await place.exec(where, command("chmod 000 .git"));
  CHECK(got.ok());
  const std::string attack = "chmod 755 .git; echo EVIL >.git/config; echo EVIL >.git/hooks/pre-commit";
  got = co_await place.exec(where, command(attack));
  check_closed(got, "let this user into the directories above it again");
  got = co_await run_once(io, site, isolation_settings(), attack);
  check_closed(got, "let this user into the directories above it again");
  fs::permissions(site.root() + "/.git", fs::perms::owner_all);
  CHECK(read_whole_file(site.root() + "/.git/config") == "old");
  CHECK(read_whole_file(site.root() + "/.git/hooks/pre-commit") == "old");
  got = co_await place.exec(where, command("echo again"));
  CHECK(got.std_out == "again\n");
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation, protected: a handle that is spawned on a closed directory reads, and changes nothing",
               case_patience) {
  if (lacks("a handle that is spawned on a closed directory") || is_root()) co_return;
  const case_site site;
  fs::permissions(site.root() + "/.git", fs::perms::none);
  auto [place, where] = co_await open_site(io, site);
  const std::string read = co_await place.read_file(where, "attempt.py");
  CHECK(!read.empty());
  std::error_code code;
  auto writing = place.write_file(where, "new", "x");
  try {
    co_await std::move(writing);
  } catch (const error& failure) {
    code = failure.code();
  }
  CHECK(code == errc::permission_denied);
  CHECK(!fs::exists(site.root() + "/new"));
  fs::permissions(site.root() + "/.git", fs::perms::owner_all);
  const exec_result got = co_await place.exec(where, command("echo hi >new; echo x >.git/config; cat new"));
  CHECK(got.std_out == "hi\n");
  CHECK(read_whole_file(site.root() + "/.git/config") == "old");
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation, protected: what a command made and closed is protected from the next on", case_patience) {
  if (lacks("what a command made and closed")) co_return;
  const case_site site;
  const auto settings = isolation_settings().protected_paths({"sub/deep/key"});
  auto [place, where] = co_await open_site(io, site, settings);
  exec_result got = co_await place.exec(where, command("mkdir -p sub/deep; echo mine >sub/deep/key; chmod 0 sub/deep"));
  CHECK(got.ok());
  const std::string attack = "chmod 755 sub/deep; echo EVIL >sub/deep/key";
  got = co_await place.exec(where, command(attack));
  check_closed(got, "sub/deep/key");
  got = co_await run_once(io, site, settings, attack);
  check_closed(got, "sub/deep/key");
  fs::permissions(site.root() + "/sub/deep", fs::perms::owner_all);
  CHECK(read_whole_file(site.root() + "/sub/deep/key") == "mine\n");
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation, protected: what others closed to this user does not count, since no command gets there",
               case_patience) {
  if (lacks("what others closed")) co_return;
  const case_site site;
  const auto settings = isolation_settings().protected_paths({"/var/cache/ldconfig/x"});
  const exec_result got = co_await run_once(io, site, settings, "echo works");
  CHECK(got.std_out == "works\n");
}

task<exec_result> run_in(asio::io_context& io, process_context_options options, std::string text) {
  context place = make_process_context(io, std::move(options));
  const handle where = co_await place.spawn();
  exec_result got = co_await place.exec(where, command(std::move(text)).merge_stderr());
  co_await place.destroy(where);
  co_return got;
}

ASYNC_TEST_FOR("isolation, protected: a repository in a root that lies in another one", case_patience) {
  if (lacks("a repository in a root")) co_return;
  const case_site site;
  fs::create_directories(site.root() + "/sub");
  fs::copy(site.root() + "/.git", site.root() + "/sub/.git", fs::copy_options::recursive);
  for (const bool is_cwd : {false, true}) {
    CAPTURE(is_cwd);
    process_context_options options = site.options(isolation_settings().writable_roots({is_cwd ? ".." : "sub"}));
    if (is_cwd) options.cwd = site.root() + "/sub";
    const std::string attack =
        "cd " + site.root() +
        "; echo x >sub/.git/config; echo x >sub/.git/hooks/pre-commit; mv sub/.git sub/g; mv sub s; "
        "echo x >sub/new";
    const exec_result got = co_await run_in(io, options, attack);
    CAPTURE(got.std_out);
    CHECK(got.ok());
    CHECK(read_whole_file(site.root() + "/sub/.git/config") == "old");
    CHECK(read_whole_file(site.root() + "/sub/.git/hooks/pre-commit") == "old");
  }
}

ASYNC_TEST_FOR("isolation, protected: the repository of a worktree, both in one root", case_patience) {
  if (lacks("the repository of a worktree")) co_return;
  const case_site site;
  const std::string top = site.root();
  const std::string own = top + "/main/.git/worktrees/wt";
  fs::create_directories(top + "/main");
  fs::copy(top + "/.git", top + "/main/.git", fs::copy_options::recursive);
  fs::create_directories(own);
  fs::create_directories(top + "/wt");
  write_whole_file(own + "/gitdir", fs::canonical(top).string() + "/wt/.git\n");
  write_whole_file(own + "/commondir", "../..\n");
  write_whole_file(top + "/wt/.git", "gitdir: " + own + "\n");
  process_context_options options = site.options(isolation_settings().writable_roots({".."}));
  options.cwd = top + "/wt";
  const std::string attack =
      "echo x >.git; cd ../main/.git; echo x >config; echo x >hooks/pre-commit; echo x >worktrees/wt/commondir; ";
  const auto check = [&] {
    fs::permissions(own, fs::perms::owner_all);
    CHECK(read_whole_file(top + "/main/.git/config") == "old");
    CHECK(read_whole_file(top + "/main/.git/hooks/pre-commit") == "old");
    CHECK(read_whole_file(own + "/commondir") == "../..\n");
    CHECK(read_whole_file(top + "/wt/.git").starts_with("gitdir: "));
  };
  exec_result got = co_await run_in(io, options, attack + "chmod 000 worktrees/wt");
  CHECK(got.ok());
  check();
  fs::permissions(own, fs::perms::none);
  got = co_await run_in(io, options, "chmod 755 ../main/.git/worktrees/wt; " + attack);
  check_closed(got, "commondir");
  check();
}

ASYNC_TEST_FOR("isolation, protected: in a root that is a repository itself, whatever is moved away", case_patience) {
  if (lacks("in a root that is a repository itself")) co_return;
  const case_site site;
  for (const char* each : {"/.git/objects", "/.git/refs", "/sub"}) fs::create_directories(site.root() + each);
  write_whole_file(site.root() + "/.git/HEAD", "ref: refs/heads/main\n");
  process_context_options options = site.options(isolation_settings().writable_roots({"../.git"}));
  options.cwd = site.root() + "/sub";
  const std::string attack =
      "cd ../.git; echo x >config; echo x >hooks/pre-commit; mv objects o; mv refs r; rm HEAD; ls";
  for (int i = 0; i < 2; ++i) {
    const exec_result got = co_await run_in(io, options, attack);
    CHECK(got.ok());
    CHECK(got.std_out.find("busy") != std::string::npos);
    CHECK(read_whole_file(site.root() + "/.git/config") == "old");
    CHECK(read_whole_file(site.root() + "/.git/hooks/pre-commit") == "old");
  }
}

ASYNC_TEST_FOR("isolation, protected: a link to the root in its place is told, and does not make the root read-only",
               case_patience) {
  if (lacks("a link to the root in its place")) co_return;
  const case_site site;
  fs::remove_all(site.root() + "/.git/hooks");
  auto [place, where] = co_await open_site(io, site);
  exec_result got = co_await place.exec(where, command("ln -s .. .git/hooks"));
  CHECK(got.ok());
  got = co_await place.exec(where, command("echo x >new"));
  CHECK(got.status.reason() == end_reason::start_failed);
  CHECK(got.status.message().find("remove the link") != std::string::npos);
  fs::remove(site.root() + "/.git/hooks");
  got = co_await place.exec(where, command("echo x >new; cat new"));
  CHECK(got.std_out == "x\n");
  co_await place.destroy(where);
}

/// A socket that nobody reads.
class agent_socket {
 public:
  explicit agent_socket(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof address.sun_path);
    std::copy(path.begin(), path.end(), address.sun_path);
    REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  ~agent_socket() { ::close(fd_); }
  agent_socket(const agent_socket&) = delete;
  agent_socket& operator=(const agent_socket&) = delete;

 private:
  int fd_;
};

ASYNC_TEST_FOR("isolation, protected: a socket that is masked stays so when its directory is closed", case_patience) {
  if (lacks("a socket that is masked")) co_return;
  const case_site site;
  fs::create_directory(site.root() + "/agent");
  const agent_socket agent(site.root() + "/agent/sock");
  const variable_is named("SSH_AUTH_SOCK", site.root() + "/agent/sock");
  const auto settings = isolation_settings().unix_sockets(access_rule::allow);
  exec_result got = co_await run_once(io, site, settings, "mv agent moved; test -S agent/sock || chmod 000 agent");
  CHECK(got.ok());
  got = co_await run_once(io, site, settings, "chmod 700 agent; test -S agent/sock && echo OPEN");
  check_closed(got, "agent/sock");
  CHECK(got.std_out.find("OPEN") == std::string::npos);
  fs::permissions(site.root() + "/agent", fs::perms::owner_all);
}

}  // namespace
}  // namespace berth::test
