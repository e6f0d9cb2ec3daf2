/// What a command finds around itself: directory, environment, arguments, descriptors, signals.
#include "contract/contract.hpp"

#include "support/skipping.hpp"

#include <filesystem>

namespace berth::contract {
namespace {

task<void> starts_in_the_handle(context& place, handle where) {
  CHECK(where.cwd().starts_with("/"));
  CHECK(where.type() == place.type());
  CHECK_FALSE(where.id().empty());
  const exec_result result = co_await place.exec(where, "pwd -P");
  CHECK(result.std_out == where.cwd() + "\n");
}

task<void> directory_of_a_command(context& place, handle where) {
  exec_result result = co_await place.exec(where, command("pwd -P").cwd("/"));
  CHECK(result.std_out == "/\n");
  co_await place.exec(where, "mkdir -p a/b");
  result = co_await place.exec(where, command("pwd -P").cwd("a/b"));
  CHECK(result.std_out == where.cwd() + "/a/b\n");
  result = co_await place.exec(where, command("pwd -P").cwd("a/../a"));
  CHECK(result.std_out == where.cwd() + "/a\n");
}

task<void> directory_missing(context& place, handle where) {
  exec_result result = co_await place.exec(where, command("echo ran").cwd("missing"));
  CHECK(result.status.reason() == end_reason::start_failed);
  CHECK(result.std_out.empty());
  CHECK(result.status.code() != 0);
  CHECK(result.status.message().find("missing") != std::string::npos);
  co_await place.exec(where, "echo text >file");
  result = co_await place.exec(where, command("echo ran").cwd("file"));
  CHECK(result.status.reason() == end_reason::start_failed);
  result = co_await place.exec(where, "echo on");
  CHECK(result.std_out == "on\n");
}

task<void> variables(context& place, handle where) {
  exec_result result = co_await place.exec(where, child("variable", "NAME").env("NAME", "a value"));
  CHECK(result.std_out == "a value");
  result = co_await place.exec(where, child("variable", "NAME").env("NAME", ""));
  CHECK(result.status == exit_status::exited(0));
  CHECK(result.std_out.empty());
  result = co_await place.exec(where, child("variable", "NAME").env("NAME", "two\nlines=\xff\n"));
  CHECK(result.std_out == "two\nlines=\xff\n");
  result = co_await place.exec(where, child("variable", "NAME"));
  CHECK(result.status == exit_status::exited(3));
}

task<void> variables_removed(context& place, handle where) {
  exec_result result = co_await place.exec(where, child("variable", "PATH").unset_env("PATH"));
  CHECK(result.status == exit_status::exited(3));
  result = co_await place.exec(where, child("variable", "N").env("N", "1").unset_env("N"));
  CHECK(result.status == exit_status::exited(3));
  result = co_await place.exec(where, child("variable", "N").unset_env("N").env("N", "1").env("N", "2"));
  CHECK(result.std_out == "2");
}

task<void> many_variables(context& place, handle where) {
  background beside = co_await place.exec_background(where, "sleep 60");
  command what = child("variable", "V49999").unset_env("V49998");
  for (int i = 0; i < 50000; ++i) what.env("V" + std::to_string(i), "");
  what.env("V49999", "the last").unset_env("V0");
  const exec_result result = co_await place.exec(where, what);
  CHECK(result.ok());
  CHECK(result.std_out == "the last");
  const std::string folders(100000, ':');
  const exec_result none = co_await place.exec(where, argv(std::string(100000, 'x')).env("PATH", folders));
  CHECK(none.status.reason() == end_reason::start_failed);
  CHECK_FALSE(beside.status().has_value());
}

task<void> variables_of_the_context(context& place, handle where) {
  exec_result result = co_await place.exec(where, child("variable", "BERTH_CONTRACT"));
  CHECK(result.std_out == "set by the context");
  result = co_await place.exec(where, child("variable", "BERTH_CONTRACT_UNWANTED"));
  CHECK(result.status == exit_status::exited(3));
  result = co_await place.exec(where, child("variable", "BERTH_CONTRACT").env("BERTH_CONTRACT", "of the command"));
  CHECK(result.std_out == "of the command");
}

task<void> variables_of_the_handle(context& place, handle where) {
  const handle other = co_await place.spawn(spawn_options().env("BERTH_CONTRACT", "of the handle").env("B", "2"));
  exec_result result = co_await place.exec(other, "echo $BERTH_CONTRACT $B");
  CHECK(result.std_out == "of the handle 2\n");
  result = co_await place.exec(where, "echo $BERTH_CONTRACT $B");
  CHECK(result.std_out == "set by the context\n");
}

task<void> makes_its_directory(context& place, handle where) {
  const std::string path = where.cwd() + "/new/deeper";
  const handle other = co_await place.spawn(spawn_options().cwd(path));
  CHECK(other.cwd() == path);
  const exec_result result = co_await place.exec(other, "pwd -P");
  CHECK(result.std_out == path + "\n");
}

task<void> searches_its_own_path(context& place, handle where) {
  co_await place.exec(where, "mkdir bin; printf '#!/bin/sh\\necho mine\\n' >bin/mine; chmod +x bin/mine");
  exec_result result = co_await place.exec(where, argv("mine").env("PATH", where.cwd() + "/bin:/usr/bin:/bin"));
  CHECK(result.std_out == "mine\n");
  result = co_await place.exec(where, argv("mine"));
  CHECK(result.status.code() == 127);
  result = co_await place.exec(where, argv("bin/mine"));
  CHECK(result.std_out == "mine\n");
  result = co_await place.exec(where, argv("./mine").cwd("bin"));
  CHECK(result.std_out == "mine\n");
}

task<void> found_without_a_path(context& place, handle where) {
  const exec_result result = co_await place.exec(where, argv("true").unset_env("PATH"));
  CHECK(result.ok());
}

task<void> arguments_exact(context& place, handle where) {
  const command words = argv("printf", "[%s]", "", "two words", "$HOME", "*", "new\nline", "\xff", "'\"\\");
  const exec_result result = co_await place.exec(where, words);
  CHECK(result.std_out == "[][two words][$HOME][*][new\nline][\xff]['\"\\]");
}

task<void> argument_too_long(context& place, handle where) {
  const std::string words(200 * 1024, 'x');
  exec_result result = co_await place.exec(where, argv("sh", "-c", "echo ran", words));
  CHECK(result.status.reason() == end_reason::start_failed);
  CHECK(result.status.code() == 126);
  CHECK_FALSE(result.status.message().empty());
  CHECK(result.status.message().size() < 500);
  CHECK(result.std_out.empty());
  result = co_await place.exec(where, command("echo ran").env("LONG", words));
  CHECK(result.status.reason() == end_reason::start_failed);
  CHECK(result.std_out.empty());
  result = co_await place.exec(where, "echo on");
  CHECK(result.std_out == "on\n");
}

std::vector<std::string> count_arguments(int each_100_kib) {
  std::vector<std::string> words = {"sh", "-c", "echo $#", "sh"};
  words.resize(words.size() + static_cast<std::size_t>(each_100_kib), std::string(100 * 1024, 'x'));
  return words;
}

task<void> many_arguments(context& place, handle where) {
  exec_result result = co_await place.exec(where, command(count_arguments(15)));
  CHECK(result.std_out == "15\n");
  // 3 MiB in all: more than Linux takes under the usual 8 MiB of stack, and the limit is the machine's.
  result = co_await place.exec(where, command(count_arguments(30)));
  const bool ran = result.std_out == "30\n";
  const bool refused = result.status.reason() == end_reason::start_failed && !result.status.message().empty();
  CHECK((ran || refused));
  result = co_await place.exec(where, "echo on");
  CHECK(result.std_out == "on\n");
}

task<void> invalid_commands(context& place, handle where) {
  const std::vector<command> invalid = {
      command(std::vector<std::string>()),
      argv(""),
      command(std::string("a\0b", 3)),
      command("true").env("A=B", "c"),
      command("true").env("", "c"),
      command("true").timeout(0ms),
      command("true").env("A", std::string("\0", 1)),
  };
  for (const command& what : invalid) {
    const std::error_code code = co_await failure_of(place.exec(where, what));
    CHECK(code == errc::invalid_argument);
  }
}

task<void> clean_start(context& place, handle where) {
  exec_result result = co_await place.exec(where, child("descriptors"));
  CHECK(result.std_out == "0\n1\n2\n");
  result = co_await place.exec(where, child("signals"));
  CHECK(result.std_out == "ignored 0\nblocked 0\n");
  process running = co_await place.exec_stream(where, child("descriptors").input_stream());
  const auto all = co_await read_all(running);
  CHECK(all->out == "0\n1\n2\n");
}

task<void> login_and_other_shells(context& place, handle where) {
  exec_result result =
      co_await place.exec(where, command("shopt -q login_shell && echo login").shell("/bin/bash").login_shell());
  if (result.status.code() == 127) {
    skip("no bash here");
    co_return;
  }
  CHECK(result.std_out == "login\n");
  result = co_await place.exec(where, command("echo ${BASH_VERSION:+bash}").shell("/bin/bash"));
  CHECK(result.std_out == "bash\n");
}

constexpr contract_case surroundings_table[] = {
    {"a command starts in the directory of its handle", starts_in_the_handle},
    {"cwd may be absolute or relative to the handle", directory_of_a_command},
    {"a missing directory is start_failed, and nothing ran", directory_missing},
    {"variables are set exactly: empty, with newlines, with any byte", variables, needs::any_bytes},
    {"variables are removed, and the last change wins", variables_removed},
    {"50000 variables arrive, and disturb nobody", many_variables, needs::many_variables},
    {"variables of the context are set and removed for every command", variables_of_the_context},
    {"variables of a handle are its own", variables_of_the_handle},
    {"a handle's directory is made with its parents", makes_its_directory},
    {"a program is searched in the PATH of its own environment", searches_its_own_path},
    {"a program is found without a PATH", found_without_a_path, needs::default_path},
    {"arguments arrive exactly", arguments_exact, needs::any_bytes},
    {"an argument of 200 KiB is refused clearly, and nothing ran", argument_too_long},
    {"1.5 MiB of arguments arrive; 3 MiB do, or are refused clearly", many_arguments},
    {"a command that makes no sense is invalid_argument", invalid_commands},
    {"a command has three descriptors and default signals", clean_start},
    {"shell() and login_shell() choose the shell", login_and_other_shells},
};

}  // namespace

std::span<const contract_case> surroundings_cases() { return surroundings_table; }

}  // namespace berth::contract
