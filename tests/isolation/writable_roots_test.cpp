#include "support/temp_dir.hpp"
#include "support/variable.hpp"

#include <berth/error.hpp>
#include <berth/isolation.hpp>

#include <doctest/doctest.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

namespace {

using paths = std::vector<std::string>;

std::string parse_failure(std::string_view text) {
  try {
    (void)parse_allow_write_setting(text, "/w");
  } catch (const error& failure) {
    CHECK(failure.code() == errc::invalid_argument);
    return failure.message();
  }
  return "none";
}

std::string resolve_failure(const std::string& cwd, const root_options& options, std::error_code code) {
  try {
    (void)resolve_writable_roots(cwd, options);
  } catch (const error& failure) {
    CHECK(failure.code() == code);
    return failure.message();
  }
  return "none";
}

std::string real(const fs::path& path) { return fs::canonical(path).string(); }

}  // namespace

TEST_CASE("allow-write setting: commas, newlines and blanks separate; empty entries mean nothing") {
  const variable_is home("HOME", "/home/u");
  const auto list = parse_allow_write_setting(" ~/.cache, ../shared\n\n/opt/a b/ ,,\t~\r\n./x/../y", "/w/p");
  CHECK(list == paths{"/home/u/.cache", "/w/shared", "/opt/a b", "/home/u", "/w/p/y"});
  CHECK(parse_allow_write_setting("", "/w").empty());
  CHECK(parse_allow_write_setting(" ,\n, ", "/w").empty());
}

TEST_CASE("allow-write setting: bytes of a path stay as they are") {
  CHECK(parse_allow_write_setting("/a/\xff\xc3\xa9\"\\", "/w") == paths{"/a/\xff\xc3\xa9\"\\"});
  CHECK(parse_allow_write_setting("./$x,a~b", "/w") == paths{"/w/$x", "/w/a~b"});
  CHECK(parse_allow_write_setting("/,..", "/w") == paths{"/", "/"});
}

TEST_CASE("allow-write setting: a bad entry is an error that names it") {
  CHECK(parse_failure("/ok, ~joe/x").find("'~joe/x'") != std::string::npos);
  CHECK(parse_failure("$HOME/x").find("'$HOME/x'") != std::string::npos);
  CHECK(parse_failure(std::string_view("/a\0b", 4)).find("NUL") != std::string::npos);
  CHECK_THROWS_AS((void)parse_allow_write_setting("x", "w"), error);
}

TEST_CASE("allow-write setting: a home that is no absolute path is not believed") {
  const variable_is home("HOME", "somewhere");
  const auto list = parse_allow_write_setting("~/x", "/w");
  CHECK(list.front().starts_with("/"));
  CHECK(!list.front().starts_with("/w"));
}

TEST_CASE("writable roots: the working directory first, real, each once, none below another") {
  const temp_dir at;
  const variable_is home("HOME", "/nobody/here");
  fs::create_directories(at / "cwd/sub");
  fs::create_directories(at / "other/deep");
  fs::create_directory_symlink(at / "other", at / "link");
  root_options options;
  options.extra = {at / "link", at / "other/deep", "sub", "../other/.", at / "cwd"};
  CHECK(resolve_writable_roots(at / "cwd/", options) == paths{real(at / "cwd"), real(at / "other")});
  CHECK(resolve_writable_roots(at / "link/../cwd") == paths{real(at / "cwd")});
}

TEST_CASE("writable roots: a name that goes over a link in a root is refused, as a command may have made it") {
  const temp_dir at;
  const variable_is home("HOME", "/nobody/here");
  fs::create_directories(at / "repo/real");
  fs::create_directories(at / "victim/inner");
  fs::create_directory_symlink("../victim", at / "repo/sub");
  root_options options;
  const auto refusal = [&options](const std::string& cwd) {
    try {
      (void)resolve_writable_roots(cwd, options);
    } catch (const error& refused) {
      CHECK(refused.code() == errc::invalid_argument);
      return refused.message();
    }
    return std::string();
  };
  const std::string told = "goes over the link '" + real(at / "repo") + "/sub', which lies in a writable root";
  options.extra = {at / "repo"};
  CHECK(refusal(at / "repo/sub").find(told) != std::string::npos);
  CHECK(refusal(at / "repo/sub/inner").find(told) != std::string::npos);
  options.extra = {".."};  // of the name, not of where it leads
  CHECK(refusal(at / "repo/sub").find(told) != std::string::npos);
  options.extra = {"sub"};
  CHECK(refusal(at / "repo").find(told) != std::string::npos);
  options.extra = {at / "repo/real"};
  CHECK(refusal(at / "repo/sub").empty());
}

TEST_CASE("writable roots: a root that holds others takes the place of the first of them") {
  const temp_dir at;
  const variable_is home("HOME", "/nobody/here");
  fs::create_directories(at / "a/cwd");
  fs::create_directories(at / "b");
  root_options options;
  options.extra = {at / "b", at / "a"};
  CHECK(resolve_writable_roots(at / "a/cwd", options) == paths{real(at / "a"), real(at / "b")});
  fs::create_directories(at / "a/cwdx");
  options.extra = {at / "a/cwdx"};
  CHECK(resolve_writable_roots(at / "a/cwd", options).size() == 2);
}

TEST_CASE("writable roots: a file is a root, a missing one is left out and said") {
  const temp_dir at;
  const variable_is home("HOME", "/nobody/here");
  write_whole_file(at / "file", "");
  fs::create_directory(at / "cwd");
  std::string said;
  root_options options;
  options.extra = {at / "missing", at / "file", at / "file/below"};
  options.log = [&said](log_level level, std::string_view line) {
    CHECK(level == log_level::warning);
    said += std::string(line) + "\n";
  };
  CHECK(resolve_writable_roots(at / "cwd", options) == paths{real(at / "cwd"), real(at / "file")});
  CHECK(said.find("missing") != said.npos);
  CHECK(said.find("file/below") != said.npos);
  CHECK(!fs::exists(at / "missing"));
}

TEST_CASE("writable roots: home, and what lies above it, only where it is allowed") {
  const temp_dir at;
  fs::create_directories(at / "home/u/work");
  fs::create_directory_symlink(at / "home/u", at / "h");
  const variable_is home("HOME", at / "h");
  root_options options;
  CHECK(resolve_writable_roots(at / "home/u/work") == paths{real(at / "home/u/work")});
  for (const std::string& wide : {at / "home/u", at / "home", at / "h", std::string("/")}) {
    options.extra = {wide};
    CHECK(resolve_failure(at / "home/u/work", options, errc::invalid_argument).find("allowed explicitly") !=
          std::string::npos);
    CHECK(resolve_failure(wide, {}, errc::invalid_argument).find("'" + real(wide) + "'") != std::string::npos);
  }
  options.extra = {"/"};
  options.allow_wide = true;
  CHECK(resolve_writable_roots(at / "home/u/work", options) == paths{"/"});
}

TEST_CASE("writable roots: what the kernel shows is none, allowed or not") {
  const temp_dir at;
  fs::create_directory_symlink("/proc/sys", at / "link");
  root_options options;
  options.allow_wide = true;
  for (const std::string& each : {std::string("/proc"), at / "link", std::string("/sys/kernel"), std::string("/dev")}) {
    options.extra = {each};
    CHECK(resolve_failure(at.path().string(), options, errc::invalid_argument).find("kernel") != std::string::npos);
  }
}

TEST_CASE("writable roots: a working directory that is none is an error") {
  const temp_dir at;
  write_whole_file(at / "file", "");
  CHECK(resolve_failure(at / "none", {}, errc::not_found).find("none") != std::string::npos);
  CHECK(resolve_failure(at / "file", {}, errc::not_a_directory).find("file") != std::string::npos);
  root_options options;
  options.extra = {""};
  CHECK(resolve_failure(at.path(), options, errc::invalid_argument) != "none");
  options.extra = {std::string("a\0b", 3)};
  CHECK(resolve_failure(at.path(), options, errc::invalid_argument) != "none");
}

TEST_CASE("isolation settings: unix sockets follow the network unless they are set") {
  CHECK(isolation_settings().unix_sockets() == access_rule::deny);
  CHECK(isolation_settings().network(access_rule::allow).unix_sockets() == access_rule::allow);
  CHECK(isolation_settings().unix_sockets(access_rule::allow).network() == access_rule::deny);
  const auto mixed = isolation_settings().network(access_rule::allow).unix_sockets(access_rule::deny);
  CHECK(mixed.unix_sockets() == access_rule::deny);
}

TEST_CASE("isolation settings: what cannot be a path is an error that names the field") {
  CHECK_NOTHROW(isolation_settings().validate());
  const auto bad_root = isolation_settings().writable_roots({""});
  CHECK_THROWS_WITH_AS(bad_root.validate(), doctest::Contains("writable_roots"), error);
  const auto bad_path = isolation_settings().protected_paths({std::string("a\0", 2)});
  CHECK_THROWS_WITH_AS(bad_path.validate(), doctest::Contains("protected_paths"), error);
}

TEST_CASE("writable roots: the home of the user database is guarded too, whatever HOME says") {
  const passwd* const user = ::getpwuid(::geteuid());
  if (user == nullptr || !fs::is_directory(user->pw_dir)) return;
  const std::string at_login = user->pw_dir;
  const temp_dir elsewhere;
  const variable_is home("HOME", elsewhere.path().string());
  for (const std::string& wide : {at_login, elsewhere.path().string()}) {
    CAPTURE(wide);
    CHECK(resolve_failure(wide, {}, errc::invalid_argument).find("allowed explicitly") != std::string::npos);
  }
  fs::create_directory(elsewhere / "sub");
  CHECK(resolve_writable_roots(elsewhere / "sub") == paths{real(elsewhere / "sub")});
}
