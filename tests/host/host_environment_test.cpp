/// What commands on this host inherit, and what a login shell adds.
#include "host/environment.hpp"
#include "host/host_world.hpp"
#include "host/login_environment.hpp"

#include "berth/error.hpp"
#include "support/temp_dir.hpp"
#include "support/variable.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

namespace berth::test {
namespace {

using inherited_names = std::vector<std::string>;
using variables = std::map<std::string, std::string>;

variables parsed(const std::string& output) {
  variables all;
  for (std::size_t at = 0; at < output.size();) {
    const auto end = output.find('\0', at);
    const std::string entry = output.substr(at, end - at);
    const auto equals = entry.find('=');
    all[entry.substr(0, equals)] = entry.substr(equals + 1);
    at = end == output.npos ? output.size() : end + 1;
  }
  return all;
}

const command show_all(std::vector<std::string>{"/usr/bin/env", "-0"});

/// What a command finds in a new place of this context.
task<variables> environment_in(asio::io_context& io, process_context_options options, spawn_options at) {
  context place = make_process_context(io, std::move(options));
  const handle where = co_await place.spawn(std::move(at));
  const exec_result result = co_await place.exec(where, show_all);
  co_await place.destroy(where);
  CHECK(result.ok());
  co_return parsed(result.std_out);
}

/// A home whose profile holds this text, and the warnings of contexts that log in there.
struct login_home {
  explicit login_home(const std::string& profile) { write_whole_file(directory / ".profile", profile); }

  process_context_options options() {
    process_context_options all;
    all.login_environment = true;
    all.login_timeout = 9s;
    all.log = [heard = warnings](log_level level, std::string_view text) {
      if (level == log_level::warning) heard->emplace_back(text);
    };
    return all;
  }

  temp_dir directory;
  variable_is home{"HOME", directory.path().string()};
  std::shared_ptr<std::vector<std::string>> warnings = std::make_shared<std::vector<std::string>>();
};

std::error_code refused(const inherited_names& names) {
  try {
    (void)inherited_environment(names);
  } catch (const error& caught) {
    return caught.code();
  }
  return {};
}

ASYNC_TEST("environment: without a list commands inherit all, and what is removed is not there") {
  const variable_is kept("BERTH_HOST_KEPT", "k");
  const variable_is removed("BERTH_HOST_REMOVED", "r");
  process_context_options options;
  options.unset_env = {"BERTH_HOST_REMOVED"};
  const variables all = co_await environment_in(io, options, spawn_options());
  CHECK(all.at("BERTH_HOST_KEPT") == "k");
  CHECK(all.count("BERTH_HOST_REMOVED") == 0);
  CHECK(all.count("PATH") == 1);
}

ASYNC_TEST("environment: an empty list inherits nothing, and makes nothing up") {
  process_context_options options;
  options.inherit_env = std::vector<std::string>();
  options.env = {{"OURS", "1"}};
  const variables all = co_await environment_in(io, options, spawn_options().env("OF_THE_HANDLE", "2"));
  const variables expected{{"OURS", "1"}, {"OF_THE_HANDLE", "2"}};
  CHECK(all == expected);
}

ASYNC_TEST("environment: a list inherits exact names and prefixes, for streams and shells as well") {
  const variable_is exact("BERTH_HOST", "exact");
  const variable_is longer("BERTH_HOST_LONGER", "longer");
  const variable_is first("BERTH_PREFIX_A", "a");
  const variable_is second("BERTH_PREFIX_", "b");
  process_context_options options;
  options.inherit_env = inherited_names({"BERTH_HOST", "BERTH_PREFIX_*", "BERTH_NOT_THERE", "BERTH_TEST_ID"});
  variables all = co_await environment_in(io, options, spawn_options());
  all.erase("BERTH_TEST_ID");
  const variables expected{{"BERTH_HOST", "exact"}, {"BERTH_PREFIX_A", "a"}, {"BERTH_PREFIX_", "b"}};
  CHECK(all == expected);

  context place = make_process_context(io, options);
  const handle where = co_await place.spawn();
  process streamed = co_await place.exec_stream(where, command("echo $BERTH_HOST-$BERTH_HOST_LONGER-$HOME"));
  const auto piece = co_await streamed.next();
  CHECK(piece->bytes() == "exact--\n");
  co_await streamed.wait();
  co_await place.destroy(where);
}

TEST_CASE("environment: names that cannot be are refused") {
  CHECK(refused(inherited_names({"A*B"})) == errc::invalid_argument);
  CHECK(refused(inherited_names({""})) == errc::invalid_argument);
  CHECK(refused(inherited_names({"A=B"})) == errc::invalid_argument);
  CHECK(refused(inherited_names({"*"})) == std::error_code());
  CHECK(inherited_environment(inherited_names()).empty());
  CHECK_FALSE(inherited_environment(inherited_names({"*"})).empty());
}

TEST_CASE("environment: changes lead from one to the other") {
  const std::vector<std::string> before{"SAME=1", "GONE=x", "OTHER=old"};
  const std::vector<std::string> after{"OTHER=new", "SAME=1", "MORE=a=b\nc"};
  const std::vector<std::string> expected{"GONE", "MORE=a=b\nc", "OTHER=new"};
  CHECK(changes_between(before, after) == expected);
}

TEST_CASE("login environment: it is found behind noise, and only when it is there") {
  using namespace std::string_literals;
  const std::vector<std::string> expected{"A=1", "B=x\ny=z", "BASH_FUNC_f%%=() { :; }"};
  CHECK(find_environment("noise\0markA=1\0B=x\ny=z\0BASH_FUNC_f%%=() { :; }\0late noise"s, "mark") == expected);
  CHECK_FALSE(find_environment("A=1\0B=2\0"s, "mark"));
  CHECK_FALSE(find_environment("markA=1"s, "mark"));
  CHECK_FALSE(find_environment("mark", "mark"));
}

ASYNC_TEST("login environment: what the profile sets is there, its noise is not, and our own changes win") {
  const variable_is removed("BERTH_LOGIN_REMOVED", "r");
  const variable_is shown("BERTH_LOGIN_OURS", "outer");
  login_home home(
      "echo noise; echo more >&2; printf 'A=1\\0B=2\\0'\n"
      "export PATH=\"$HOME/bin:$PATH\" BERTH_LOGIN_LINES=\"a=b\nsecond\" BERTH_LOGIN_OURS=profile\n"
      "export BERTH_LOGIN_SEEN=$BERTH_GIVEN BERTH_LOGIN_CWD=$PWD TERM=changed OLDPWD=/ GPG_TTY=none\n"
      "unset BERTH_LOGIN_REMOVED; BERTH_LOGIN_PLAIN=not-exported\n");
  process_context_options options = home.options();
  options.env = {{"BERTH_LOGIN_OURS", "context"}, {"BERTH_GIVEN", "given"}};
  const std::string cwd = std::filesystem::canonical(home.directory.path()).string();
  const variables before = co_await environment_in(io, process_context_options(), spawn_options().cwd(cwd));
  const variables all = co_await environment_in(io, options, spawn_options().cwd(cwd).env("BERTH_HANDLE", "h"));
  CHECK(*home.warnings == std::vector<std::string>());
  CHECK(all.at("PATH").starts_with(home.directory / "bin:"));
  CHECK(all.at("BERTH_LOGIN_LINES") == "a=b\nsecond");
  CHECK(all.at("BERTH_LOGIN_OURS") == "context");
  CHECK(all.at("BERTH_LOGIN_SEEN") == "given");
  CHECK(all.at("BERTH_HANDLE") == "h");
  CHECK(all.at("BERTH_LOGIN_CWD") == cwd);
  for (const char* absent : {"A", "BERTH_LOGIN_REMOVED", "BERTH_LOGIN_PLAIN"}) CHECK(all.count(absent) == 0);
  for (const char* same : {"SHLVL", "_", "PWD", "OLDPWD", "TERM", "GPG_TTY", "COLUMNS"}) {
    CAPTURE(same);
    CHECK(all.count(same) == before.count(same));
    if (before.count(same) == 1 && all.count(same) == 1) CHECK(all.at(same) == before.at(same));
  }
}

ASYNC_TEST("login environment: on top of a clean one it is that of a fresh login") {
  const variable_is outer("BERTH_LOGIN_OUTER", "x");
  login_home home("export BERTH_LOGIN_HERE=1\n");
  process_context_options options = home.options();
  options.inherit_env = inherited_names({"HOME", "BERTH_TEST_ID"});
  const variables all = co_await environment_in(io, options, spawn_options());
  CHECK(all.at("BERTH_LOGIN_HERE") == "1");
  CHECK(all.at("HOME") == home.directory.path().string());
  CHECK(all.count("BERTH_LOGIN_OUTER") == 0);
  CHECK(all.count("USER") == 1);
  CHECK(all.count("PATH") == 1);
}

ASYNC_TEST("login environment: the shell is asked once, whatever runs there") {
  login_home home("echo asked >>\"$HOME/asked\"; export BERTH_LOGIN=1\n");
  context place = make_process_context(io, home.options());
  const handle where = co_await place.spawn();
  for (int i = 0; i < 3; ++i) {
    const exec_result result = co_await place.exec(where, "echo $BERTH_LOGIN");
    CHECK(result.std_out == "1\n");
  }
  CHECK(read_whole_file(home.directory / "asked") == "asked\n");
  // Also in the place of a second resident.
  co_await place.exec(where, "kill -KILL $PPID; sleep 10");
  const exec_result after = co_await place.exec(where, "echo $BERTH_LOGIN");
  CHECK(after.std_out == "1\n");
  CHECK(read_whole_file(home.directory / "asked") == "asked\n");
  co_await place.destroy(where);
}

ASYNC_TEST("login environment: a profile that ends the shell gives a warning, and commands run without it") {
  login_home home("export BERTH_LOGIN=1; exit 3\n");
  const variables all = co_await environment_in(io, home.options(), spawn_options());
  CHECK(all.count("BERTH_LOGIN") == 0);
  CHECK(all.count("PATH") == 1);
  REQUIRE(home.warnings->size() == 1);
  CHECK(home.warnings->front().find("exited with 3") != std::string::npos);
}

ASYNC_TEST("login environment: a profile that never ends is ended with all it started, with a warning") {
  login_home home("trap '' TERM HUP INT; echo $$ >\"$HOME/pid\"; (trap '' TERM; sleep 300) & sleep 300; sleep 300\n");
  process_context_options options = home.options();
  options.login_timeout = 700ms;
  const variables all = co_await environment_in(io, options, spawn_options());
  CHECK(all.count("PATH") == 1);
  REQUIRE(home.warnings->size() == 1);
  CHECK(home.warnings->front().find("not ready after 700 ms") != std::string::npos);
}

ASYNC_TEST("login environment: what a profile leaves running is ended, and holds nothing up") {
  login_home home("setsid sleep 300 & echo $! >\"$HOME/pid\"; export BERTH_LOGIN=1\n");
  context place = make_process_context(io, home.options());
  const handle where = co_await place.spawn();
  const std::vector<pid_t> left{std::stoi(read_whole_file(home.directory / "pid"))};
  CHECK(alive_among(left) == "");
  const exec_result result = co_await place.exec(where, "echo $BERTH_LOGIN");
  CHECK(result.std_out == "1\n");
  CHECK(*home.warnings == std::vector<std::string>());
  co_await place.destroy(where);
}

ASYNC_TEST(
    "login environment: handles that are spawned at once each ask, and a cancelled one leaves the others alone") {
  login_home home("echo $$ >>\"$HOME/pids\"; while [ ! -e \"$HOME/go\" ]; do sleep 0.02; done; export BERTH_LOGIN=1\n");
  context place = make_process_context(io, home.options());
  running<handle> first(io.get_executor(), place.spawn());
  running<handle> second(io.get_executor(), place.spawn());
  const std::function<bool()> two_ask = [path = home.directory / "pids"] {
    const std::string pids = read_whole_file(path);
    return std::count(pids.begin(), pids.end(), '\n') == 2;
  };
  const bool both = co_await becomes_true(two_ask);
  CHECK(both);
  first.cancel();
  std::error_code code;
  try {
    (void)co_await first.result();
  } catch (const std::system_error& caught) {
    code = caught.code();
  }
  CHECK(is_cancelled(code));
  CHECK(residents().size() == 1);
  write_whole_file(home.directory / "go", "");
  const handle where = co_await second.result();
  const exec_result result = co_await place.exec(where, "echo $BERTH_LOGIN");
  CHECK(result.std_out == "1\n");
  co_await place.destroy(where);
}

ASYNC_TEST("login environment: a time limit that is none is refused") {
  process_context_options options;
  options.login_timeout = 0ms;
  context place = make_process_context(io, options);
  std::error_code code;
  try {
    (void)co_await place.spawn();
  } catch (const error& caught) {
    code = caught.code();
  }
  CHECK(code == errc::invalid_argument);
}

}  // namespace
}  // namespace berth::test
