#include "cli/shell_options.hpp"

#include "cli/arguments.hpp"
#include "cli/container_help.hpp"
#include "cli/container_options.hpp"
#include "cli/isolation_options.hpp"
#include "cli/place_options.hpp"
#include "context/terminal_command.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <utility>

namespace berth::cli {

namespace {

constexpr auto whole_shell_help = joined(R"(Usage: berth shell [OPTIONS] [--] [COMMAND]
       berth shell [OPTIONS] [--] PROGRAM ARGUMENT...

Opens a terminal on this host or in a container, in the terminal that it is called in: the login
shell, or the command given. One word is shell text for /bin/sh; several are a program and its
arguments.

Every key goes inside: control C, control Z and control \ are for what runs there. Resizing is
passed on. When the shell ends, so does berth, with its exit code, and the settings of your terminal
are what they were.

Options:
  --cwd DIR             start in this directory
  -e, --env NAME=VALUE  set a variable; NAME alone passes on ours
  --unset-env NAME      remove a variable
  --env-file FILE       set variables from a file: NAME=VALUE or NAME a line, # for comments
                        (removals come first, then files, then --env)
  --clean-env           pass on none of our variables but TERM
  --inherit-env NAME    pass on this one only, or all that begin so: 'LC_*'; may be repeated
  --isolate             in a kernel sandbox (bubblewrap): only the directory it starts in may be
                        written, no network, /tmp is its own; the options down to --host-tmp
                        imply it
  --writable PATH       this may be written too; may be repeated; the home directory and what lies
                        above it only by their full names
  --network RULE        deny (the default) or allow
  --protect PATH        read-only though it could be written, besides .git/hooks and .git/config;
                        may be repeated; a relative one is looked for in all that may be written;
                        one that is not there is told, and not protected
  --unix-sockets        unix sockets may be made; without a network they may not
  --private-tmp         /tmp is its own, and removed with it (the default)
  --host-tmp            /tmp is that of this host, read-only
  -h, --help            this text
)",
                                         container_options_help, R"(
Standard input and output must be a terminal. In a pipe or a script, use 'berth exec'.

INT, TERM, HUP and QUIT from outside hang up the terminal inside: HUP for all that runs there, then
KILL after 2s. TSTP stops berth and nothing else; what runs inside goes on until it has something to
show. As a job in the background, berth stops until it is brought to the foreground.

What the shell leaves running ends with berth. Commands in the background and terminals that can be
left and found again live as long as their owner; the program berth is one process for each call and
keeps none. They are to be had from the library: context::exec_background, context::open_terminal.

Exit code:
  that of the shell or command; 128+N when signal N ended it, or us
  125  berth itself failed or was called wrongly, or no container could be had
  126  the command was found and could not be run
  127  the command was not found, or no sandbox could be made and nothing ran

Examples:
  berth shell
  berth shell --cwd app -e DEBUG=1
  berth shell vim notes.txt
  berth shell --image debian:12 -v .:/src --cwd /src
  berth shell --unset-env HISTFILE -- bash --norc
)");

}  // namespace

const std::string_view shell_help = text_of_help(whole_shell_help);

namespace {

void declare_options(CLI::App& app) {
  app.set_help_flag("");
  declare_place_options(app);
  declare_isolation_options(app);
  declare_container_options(app);
  app.add_flag("-h,--help");
}

/// What kind of terminal ours is; the library would otherwise take it for a usual one.
std::string terminal_kind() {
  const char* named = std::getenv("TERM");
  return named != nullptr && named[0] != '\0' ? named : "dumb";
}

/// On this host or in a container, with which environment.
void set_place_of(const CLI::App& app, shell_options& options) {
  options.container = container_of(app);
  if (options.container) {
    options.env = inherited_by_container(app);
  } else {
    options.cwd = directory_of(app);
    options.inherit_env = inherited_names(app);
    options.isolation = isolation_of(app, options.cwd);
  }
  add_changes(options.env, environment_of(app));
}

}  // namespace

shell_options parse_shell_options(const words& arguments) {
  CLI::App app("", "shell");
  declare_options(app);
  auto divided = divide_words(app, arguments);
  parse_options(app, std::move(divided.options));

  shell_options options;
  options.help = app.count("--help") > 0;
  if (options.help) return options;
  options.command_words = std::move(divided.command);
  set_place_of(app, options);
  return options;
}

command make_shell(const shell_options& options, terminal_size size) {
  terminal_options wanted;
  wanted.size(size.columns(), size.rows());
  if (!options.command_words.empty()) wanted.run(command_of(options.command_words));
  command what = terminal_command(wanted);
  what.env("TERM", terminal_kind());
  set_place(what, options.isolation ? std::string() : options.cwd, options.env);
  what.validate();
  return what;
}

}  // namespace berth::cli
