// The program `berth`: reads the first word, runs what it names, and ends with its exit code.

#include "cli/bench_command.hpp"
#include "cli/doctor_command.hpp"
#include "cli/exec_command.hpp"
#include "cli/exec_options.hpp"
#include "cli/file_words.hpp"
#include "cli/reap_command.hpp"
#include "cli/shell_command.hpp"
#include "cli/shell_options.hpp"
#include "cli/subcommand.hpp"

#include <berth/version.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <csignal>
#include <exception>
#include <utility>

namespace berth::cli {
namespace {

static_assert(version == BERTH_VERSION, "include/berth/version.hpp and meson.build name different versions");

const subcommand subcommands[] = {
    {"exec", "run a command, pass its output on, and end with its exit code", exec_help, exec_command},
    {"shell", "open a terminal: your shell, or a program that draws", shell_help, shell_command},
    {"read", "write the bytes of files to standard output", read_help, read_command},
    {"write", "replace a file by standard input, in one step", write_help, write_command},
    {"ls", "list directories", ls_help, ls_command},
    {"cp", "copy a file or a tree to a place or from it", cp_help, cp_command},
    {"rm", "remove files and directories", rm_help, rm_command},
    {"mkdir", "make directories with their parents", mkdir_help, mkdir_command},
    {"reap", "remove containers that a killed program left", reap_help, reap_command},
    {"bench", "measure what this library costs on this machine", bench_help, bench_command},
    {"doctor", "tell what works on this machine, and how to mend what does not", doctor_help, doctor_command},
};

const subcommand* find_subcommand(std::string_view name) {
  for (const auto& each : subcommands) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

std::string general_help() {
  std::string text =
      "Usage: berth COMMAND [ARGUMENT...]\n"
      "\n"
      "Runs commands in places where work can be done, and leaves nothing behind.\n"
      "\n"
      "Commands:\n";
  for (const auto& each : subcommands) text += fmt::format("  {:<9} {}\n", each.name, each.summary);
  text +=
      "  help      this text; 'berth help COMMAND' for one command\n"
      "  version   the version of this program\n"
      "\n"
      "Examples:\n"
      "  berth exec --timeout 30s 'make test'\n"
      "  berth exec --image python:3.12 -- python3 -c 'print(1)'\n"
      "  berth shell --cwd app\n"
      "  berth ls -l src\n";
  return text;
}

/// Runs the io_context until the task has ended.
int run_to_end(asio::io_context& io, task<int> work) {
  int code = exit_own_failure;
  std::exception_ptr failure;
  asio::co_spawn(io, std::move(work), [&](std::exception_ptr thrown, int result) {
    failure = std::move(thrown);
    code = result;
  });
  io.run();
  if (failure) std::rethrow_exception(failure);
  return code;
}

const subcommand& subcommand_called(const std::string& name) {
  const auto* found = find_subcommand(name);
  if (found == nullptr)
    throw usage_error(fmt::format("unknown command '{}'; 'berth help' lists those there are", name));
  return *found;
}

int run_subcommand(const std::string& name, words arguments) {
  const auto& found = subcommand_called(name);
  try {
    asio::io_context io(1);
    return run_to_end(io, found.run(io, std::move(arguments)));
  } catch (const std::exception& failure) {
    print_error(found.name, failure.what());
    return exit_own_failure;
  }
}

int run(words arguments) {
  if (arguments.empty()) {
    print_text(general_help(), STDERR_FILENO);
    return exit_own_failure;
  }
  const auto first = arguments.front();
  arguments.erase(arguments.begin());
  const bool names_itself = !arguments.empty() && (arguments.front() == "help" || arguments.front() == "version");
  if (first == "version" || first == "--version") {
    if (!arguments.empty()) throw usage_error("takes no arguments");
    return print_text(fmt::format("berth {}\n", version));
  }
  if (first == "help" || first == "--help" || first == "-h") {
    const bool general = arguments.empty() || names_itself;
    return print_text(general ? general_help() : std::string(subcommand_called(arguments.front()).help));
  }
  return run_subcommand(first, std::move(arguments));
}

/// Descriptors that we open must not become standard streams by chance. Reading from one that was closed finds the end, writing
/// to standard output fails, as it would have, and what goes to standard error is dropped.
void fill_standard_descriptors() {
  constexpr int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", modes[fd]);
  }
}

int end_by(int signo) {
  std::signal(signo, SIG_DFL);
  std::raise(signo);
  return 128 + signo;
}

}  // namespace
}  // namespace berth::cli

int main(int argc, char** argv) {
  using namespace berth::cli;
  fill_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a write that nobody reads is an error like others
  try {
    const int code = run(words(argv + (argc > 0 ? 1 : 0), argv + argc));
    return code < ends_by_signal ? code : end_by(code - ends_by_signal);
  } catch (const std::exception& failure) {
    print_error(failure.what());
    return exit_own_failure;
  }
}
