/// Login shells of all kinds, asked without a context.
#include "host/host_place.hpp"
#include "host/host_world.hpp"
#include "host/login_environment.hpp"

#include "berth/error.hpp"
#include "support/temp_dir.hpp"

#include <algorithm>
#include <filesystem>

namespace berth::test {
namespace {

struct shell_world {
  explicit shell_world(asio::io_context& io) : executor(io.get_executor()) {
    host_place_options options;
    options.pool = pool;
    place = std::make_shared<host_place>(executor, options);
  }

  login_question question() const {
    login_question what;
    what.executor = executor;
    what.pool = pool;
    what.place = place;
    what.cwd = std::filesystem::canonical(directory.path()).string();
    what.inherited = {"PATH=/usr/bin:/bin", "ONE=1"};
    what.timeout = 9s;
    return what;
  }

  login_user user(const std::string& shell) const { return {shell, {"HOME=" + directory.path().string()}}; }

  /// A program in place of a shell.
  login_user program(const std::string& text) const {
    write_whole_file(directory / "shell", "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(directory / "shell", std::filesystem::perms::owner_all);
    return user(directory / "shell");
  }

  temp_dir directory;
  asio::any_io_executor executor;
  std::shared_ptr<blocking_pool> pool = std::make_shared<blocking_pool>();
  std::shared_ptr<host_place> place;
};

/// The message of the failure; empty if there is none.
task<std::string> failure_of(login_question what, login_user who, errc expected) {
  try {
    (void)co_await ask_login_shell(std::move(what), std::move(who));
  } catch (const error& caught) {
    CHECK(caught.code() == expected);
    co_return caught.message();
  }
  co_return std::string();
}

bool holds(const std::vector<std::string>& all, const std::string& entry) {
  return std::find(all.begin(), all.end(), entry) != all.end();
}

ASYNC_TEST("login shell: one that is missing, says nothing, or says no is a failure that names it") {
  const shell_world world(io);
  std::string said = co_await failure_of(world.question(), world.user("/nonexistent/shell"), errc::unavailable);
  CHECK(said.starts_with("/nonexistent/shell: "));
  CHECK(said.find("No such file") != std::string::npos);
  for (const char* text : {"exit 0", "exec >/dev/null; eval \"$4\"", "echo not available; exit 1", "kill -KILL $$"}) {
    CAPTURE(text);
    said = co_await failure_of(world.question(), world.program(text), errc::unavailable);
    CHECK(said.find("/shell: it showed no environment") != std::string::npos);
  }
  co_await world.place->destroy();
}

ASYNC_TEST("login shell: one that writes without end is stopped at its deadline") {
  const shell_world world(io);
  login_question what = world.question();
  what.timeout = 500ms;
  const std::string said = co_await failure_of(what, world.program("trap '' TERM; exec yes"), errc::timeout);
  CHECK(said.find("not ready") != std::string::npos);
  co_await world.place->destroy();
}

ASYNC_TEST("login shell: megabytes of noise before the environment do not matter") {
  const shell_world world(io);
  const auto who = world.program("head -c 20000000 /dev/zero; TWO=2; export TWO; eval \"$4\"");
  const auto changes = co_await ask_login_shell(world.question(), who);
  CHECK(holds(changes, "TWO=2"));
  CHECK_FALSE(holds(changes, "ONE=1"));
  co_await world.place->destroy();
}

ASYNC_TEST("login shell: every kind that is here shows its environment") {
  const shell_world world(io);
  write_whole_file(world.directory / ".profile", "export FROM=profile\n");
  for (const char* shell : {"/bin/bash", "/bin/sh", "/bin/dash", "/bin/zsh", "/usr/bin/fish", "/bin/ksh"}) {
    if (!std::filesystem::exists(shell)) continue;
    CAPTURE(shell);
    const auto changes = co_await ask_login_shell(world.question(), world.user(shell));
    CHECK(holds(changes, "HOME=" + world.directory.path().string()));
    const std::string name = std::filesystem::path(shell).filename();
    if (name != "zsh" && name != "fish") CHECK(holds(changes, "FROM=profile"));
  }
  co_await world.place->destroy();
}

ASYNC_TEST("login shell: what bash would set at its first prompt is there, as direnv does it") {
  const shell_world world(io);
  if (!std::filesystem::exists("/bin/bash")) co_return;
  write_whole_file(world.directory / ".bash_profile", ". ~/.bashrc\n");
  write_whole_file(world.directory / ".bashrc",
                   "[ -z \"$PS1\" ] && return\n"
                   "hook() { export FROM_HOOK=\"$PWD\"; }; PROMPT_COMMAND=\"hook; PROMPT_COMMAND=x\"\n");
  const login_question what = world.question();
  const auto changes = co_await ask_login_shell(what, world.user("/bin/bash"));
  CHECK(holds(changes, "FROM_HOOK=" + what.cwd));
  co_await world.place->destroy();
}

}  // namespace
}  // namespace berth::test
