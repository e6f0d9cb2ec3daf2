#include "cli/exec_options.hpp"
#include "cli/program.hpp"
#include "cli/shell_options.hpp"
#include "cli/terminal_session.hpp"
#include "core/json.hpp"
#include "support/skipping.hpp"
#include "support/temp_dir.hpp"
#include "support/variable.hpp"

#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

using namespace berth::test;
using berth::access_rule;
using berth::isolation_settings;

namespace {

std::optional<isolation_settings> isolation(words options) {
  options.push_back("true");
  return berth::cli::parse_exec_options(options).isolation;
}

std::string mistake_in(const words& options) {
  try {
    (void)isolation(options);
  } catch (const berth::cli::usage_error& mistake) {
    return mistake.what();
  }
  return "none";
}

/// Runs `berth exec` in the directory; the shell text may use quotes of the shell.
program_end in(const temp_dir& at, const std::string& arguments) {
  return shell_ends("cd '" + at.path().string() + "' && exec \"$0\" exec " + arguments + " </dev/null");
}

}  // namespace

TEST_CASE("isolation arguments: none without an option, and each of them implies it") {
  CHECK(!isolation({}));
  for (const words& options :
       {words{"--isolate"}, words{"--writable", "/usr"}, words{"--network", "allow"}, words{"--protect", "x"},
        words{"--unix-sockets"}, words{"--private-tmp"}, words{"--host-tmp"}}) {
    CAPTURE(options.front());
    CHECK(isolation(options));
    CHECK(berth::cli::parse_shell_options(options).isolation);
  }
}

TEST_CASE("isolation arguments: what they set") {
  const auto defaults = *isolation({"--isolate"});
  CHECK(defaults.network() == access_rule::deny);
  CHECK(defaults.unix_sockets() == access_rule::deny);
  CHECK(defaults.tmp() == berth::tmp_kind::own);
  CHECK(defaults.setting_name() == "--writable");
  CHECK(!defaults.allows_wide_roots());
  const auto set = *isolation(
      {"--writable", "/usr/../opt", "--writable", "a,b", "--network", "allow", "--protect", ".envrc", "--host-tmp"});
  const std::string here = std::filesystem::current_path().string();
  CHECK(set.writable_roots() == words{"/opt", here + "/a,b"});
  CHECK(set.protected_paths() == words{".git/hooks", ".git/config", ".git/config.worktree", ".envrc"});
  CHECK(set.network() == access_rule::allow);
  CHECK(set.unix_sockets() == access_rule::allow);
  CHECK(set.tmp() == berth::tmp_kind::host);
  CHECK(isolation({"--unix-sockets"})->unix_sockets() == access_rule::allow);
  CHECK(isolation({"--writable", "/"})->allows_wide_roots());
}

TEST_CASE("isolation arguments: mistakes are told") {
  CHECK(mistake_in({"--network", "maybe"}) == "--network: 'maybe' is neither allow nor deny");
  CHECK(mistake_in({"--writable", ""}) == "--writable: an empty path");
  CHECK(mistake_in({"--protect", ""}) == "--protect: an empty path");
  CHECK(mistake_in({"--private-tmp", "--host-tmp"}) == "--private-tmp and --host-tmp cannot both be");
  CHECK(mistake_in({"--isolate", "--cwd", "/"}).starts_with("--isolate: / is the home directory or above it"));
}

TEST_CASE("isolation arguments: what a link leads to is not named in full") {
  const temp_dir at;
  std::filesystem::create_directory_symlink("/", at / "link");
  for (const std::string& each : {at / "link", at / "link/", std::string("/proc/self/root")}) {
    CHECK(mistake_in({"--writable", each}).starts_with("--writable " + each + ": / is the home directory or above it"));
  }
  CHECK(isolation({"--writable", "/"})->allows_wide_roots());
  CHECK(isolation({"--writable", "//"})->allows_wide_roots());
  const variable_is home("HOME", at / "home");
  std::filesystem::create_directory(at / "real");
  std::filesystem::create_directory_symlink("real", at / "home");
  for (const char* each : {"home", "home/", "real"}) CHECK(isolation({"--writable", at / each})->allows_wide_roots());
}

TEST_CASE("isolation: the home directory may be written only where it is named in full") {
  if (!has_bwrap()) return;
  nothing_left guard;
  const temp_dir home;
  std::filesystem::create_directory(home / "sub");
  const std::string at = "cd '" + home.path().string() + "' && HOME='" + home.path().string() + "' exec \"$0\" exec ";
  auto done = shell_ends(at + "--isolate touch x");
  CHECK(done.code == 125);
  CHECK(done.err.find("--isolate: " + home.path().string()) != std::string::npos);
  done = shell_ends(at + "--cwd sub --writable . touch ../x");
  CHECK(done.code == 125);
  CHECK(count_lines(done.err) == 1);
  CHECK(!std::filesystem::exists(home / "x"));
  done = shell_ends(at + "--writable '" + home.path().string() + "' touch x");
  CHECK(done.code == 0);
  CHECK(std::filesystem::exists(home / "x"));
  done = shell_ends(at + "--isolate --cwd sub touch y");
  CHECK(done.code == 0);
  CHECK(std::filesystem::exists(home / "sub/y"));
}

TEST_CASE("isolation: the home of the user database is no working directory, whatever HOME says") {
  const passwd* const user = ::getpwuid(::geteuid());
  if (user == nullptr || !std::filesystem::is_directory(user->pw_dir)) return;
  nothing_left guard;
  const temp_dir elsewhere;
  const auto done = shell_ends("cd '" + std::string(user->pw_dir) + "' && HOME='" + elsewhere.path().string() +
                               "' exec \"$0\" exec --isolate true");
  CHECK(done.code == 125);
  CHECK(done.err.find("is the home directory or above it") != std::string::npos);
}

TEST_CASE("isolation: a --protect that protects nothing is told") {
  if (!has_bwrap()) return;
  nothing_left guard;
  const temp_dir at;
  const temp_dir more;
  write_whole_file(at / "own", "");
  write_whole_file(more / "other", "");
  const std::string writable = "--writable '" + more.path().string() + "' ";
  auto done = in(at, writable + "--protect own --protect other --protect '" + (more / "other") + "' true");
  CHECK(done.code == 0);
  CHECK(done.err == "");
  // A link in a root may be replaced, whatever it leads to.
  std::filesystem::create_symlink("/etc/passwd", at / "link");
  done = in(at, writable + "--protect nosuch --protect '" + (more / "no/x") + "' --protect link true");
  CHECK(done.code == 0);
  const std::string outside = "lies outside of what may be written, so nothing is protected by it\n";
  const std::string missing = "is not there, so nothing is protected by it\n";
  CHECK(done.err == "berth: exec: --protect 'nosuch': " + missing + "berth: exec: --protect '" + (more / "no/x") +
                        "': " + missing + "berth: exec: --protect 'link': " + outside);
  done = in(at, "--protect own --cwd '" + more.path().string() + "' true");
  CHECK(done.code == 0);
  CHECK(count_lines(done.err) == 1);
}

TEST_CASE("isolation: the command writes where it may, and a line says what it was denied") {
  if (!has_bwrap()) return;
  nothing_left guard;
  const temp_dir at;
  const temp_dir more;
  const auto done =
      in(at, "--writable '" + more.path().string() + "' 'echo a >a; echo b >" + more / "b" + "; echo c >/etc/berth-c'");
  CHECK(done.code == 2);
  CHECK(done.out == "");
  CHECK(read_whole_file(at / "a") == "a\n");
  CHECK(read_whole_file(more / "b") == "b\n");
  CAPTURE(done.err);
  CHECK(count_lines(done.err) == 2);
  CHECK(done.err.find("\n[isolation] write to /etc/berth-c may have been blocked: writable roots are " +
                      at.path().string() + ", " + more.path().string() + "; add the directory to --writable") !=
        std::string::npos);
}

TEST_CASE("isolation: --merge-stderr and --json keep the line out of standard output") {
  if (!has_bwrap()) return;
  nothing_left guard;
  const temp_dir at;
  const auto merged = in(at, "--isolate --merge-stderr touch /etc/berth-c");
  CHECK(merged.out.find("[isolation]") == std::string::npos);
  CHECK(merged.err.starts_with("[isolation] write to /etc/berth-c"));
  const auto told = in(at, "--isolate --json touch /etc/berth-c");
  CHECK(told.err == "");
  const auto last = told.out.rfind("{\"type\":\"result\"");
  REQUIRE(last != std::string::npos);
  const auto result = berth::json::parse(told.out.substr(last));
  CHECK(result["denied"]["kind"] == "write");
  CHECK(result["denied"]["path"] == "/etc/berth-c");
  CHECK(result["denied"]["line"].as_string().starts_with("[isolation] "));
  CHECK(told.out.find("[isolation]") > last);
  const std::string said = "touch: cannot touch '/etc/berth-c': Read-only file system\n";
  CHECK(result["bytes"]["stderr"] == said.size());
}

TEST_CASE("isolation: without a sandbox it is 127, one line with cause and cure, and nothing runs") {
  nothing_left guard;
  const temp_dir at;
  // No bwrap lies outside of these.
  const auto done = in(at, "--writable /usr --writable /bin 'touch marker'");
  CHECK(done.code == 127);
  CHECK(done.out == "");
  CHECK(count_lines(done.err) == 1);
  CHECK(done.err.find("install bubblewrap") != std::string::npos);
  CHECK(done.err.ends_with("; command was not run\n"));
  CHECK(!std::filesystem::exists(at / "marker"));
}

TEST_CASE("isolation: what the system refused is in the line, if a limit is the reason") {
  if (!has_bwrap()) return;
  nothing_left guard;
  const auto done = shell_ends("ulimit -f 0; exec \"$0\" exec --isolate true </dev/null");
  CHECK(done.code == 127);
  CHECK(count_lines(done.err) == 1);
  CHECK(done.err.find("File too large; command was not run\n") != std::string::npos);
}

TEST_CASE("isolation: a shell is inside too, and what it was denied is told at its end") {
  if (!has_bwrap()) return;
  nothing_left guard;
  const temp_dir at;
  terminal_session session("cd '" + at.path().string() +
                           "'; \"$0\" shell --isolate 'touch a /etc/berth-c'; echo ended $?");
  CHECK(session.shows("ended 1"));
  CHECK(std::filesystem::exists(at / "a"));
  CHECK(session.screen().find("\r\n[isolation] write to /etc/berth-c") != std::string::npos);
}

TEST_CASE("isolation: before a shell what protects nothing, or is not there to write, is told") {
  if (!has_bwrap()) return;
  nothing_left guard;
  const temp_dir at;
  terminal_session session("cd '" + at.path().string() +
                           "'; \"$0\" shell --protect nosuch --writable nowhere true; echo ended $?");
  CHECK(session.shows("ended 0"));
  CHECK(session.screen().find("nowhere' is left out") != std::string::npos);
  CHECK(session.screen().find("--protect 'nosuch': is not there") != std::string::npos);
}
