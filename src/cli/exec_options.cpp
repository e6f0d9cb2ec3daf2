#include "cli/exec_options.hpp"

#include "cli/arguments.hpp"
#include "cli/container_help.hpp"
#include "cli/container_options.hpp"
#include "cli/isolation_options.hpp"
#include "cli/place_options.hpp"

#include <berth/error.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>

namespace berth::cli {

namespace {

constexpr auto whole_exec_help = joined(R"(Usage: berth exec [OPTIONS] [--] COMMAND
       berth exec [OPTIONS] [--] PROGRAM ARGUMENT...

Runs a command on this host or in a container, passes its output on as it comes, and ends with its
exit code.

One word is shell text for /bin/sh; several are a program and its arguments, without a shell.
Everything from the first word that is no option belongs to the command; `--` says so where the
command itself begins with a dash.

Our standard input becomes the command's, and ends where ours does. Where it must stay untouched
(in a loop that reads a file, for instance), add </dev/null.

Options:
  --cwd DIR             run in this directory
  -e, --env NAME=VALUE  set a variable; NAME alone passes on ours
  --unset-env NAME      remove a variable
  --env-file FILE       set variables from a file: NAME=VALUE or NAME a line, # for comments
                        (removals come first, then files, then --env)
  --clean-env           pass on none of our variables
  --inherit-env NAME    pass on this one only, or all that begin so: 'LC_*'; may be repeated
  --login-env           begin with what the user's login shell sets: PATH of nvm, rbenv, direnv
  --timeout TIME        end the command after this time: 30s, 1.5s, 200ms, 2m, 1h30m
  --idle-timeout TIME   end it after this time without output
  --grace TIME          how long it may take to end after TERM, before KILL; default 2s
  --memory SIZE         most memory of the command as a whole: 4096, 64K, 512M, 2G; where no cgroup
                        can be had (berth doctor tells), of each process
  --cpu-time TIME       most processor time of each process, in whole seconds: 30s, 5m
  --file-size SIZE      largest file that may be written
  --open-files N        most descriptors of each process
  --processes N         most processes of the command as a whole; where no cgroup can be had,
                        of the user on this host, which does not bind root
  --nice N              added to the niceness, -20 to 19
  --isolate             in a kernel sandbox (bubblewrap): only the directory it runs in may be
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
  --merge-stderr        both outputs as standard output, in the exact order of the writes
  --json                events on standard output, a JSON object a line: pull, start, output, result
  -h, --help            this text
)",
                                        container_options_help, R"(
INT, TERM, HUP and QUIT are passed on to the command. A second INT ends it with all it started.
Control Z stops it with us.

What the command leaves running ends with berth: a server put in the background, and daemons too,
such as those of tmux, gradle or emacs. Start those outside if they shall stay. Background commands
with logs, and terminals to come back to, live as long as the program that owns them: they are for
users of the library, since each berth is a process of its own.

Exit code:
  the command's; 128+N when signal N ended it
  124  a time limit ended it
  125  berth itself failed or was called wrongly, or no container could be had (a command can give
       125 too; --json tells them apart)
  126  the command was found and could not be run
  127  the command was not found, or no sandbox could be made and nothing ran
  141  nobody reads our output any more; the command was ended

Examples:
  berth exec 'make test 2>&1 | tail -n 20'
  berth exec --cwd app --timeout 10m -- npm run build
  berth exec -e CI=1 --unset-env HOME -- env
  berth exec --isolate --writable ~/.npm npm test
  berth exec --image node:22 -v .:/app --cwd /app --memory 2G -- npm test
  berth exec --json --idle-timeout 1m pytest -q | jq -r 'select(.type == "result").reason'
  tar c src | berth exec 'mkdir -p copy && tar x -C copy'
)");

}  // namespace

const std::string_view exec_help = text_of_help(whole_exec_help);

namespace {

void declare_options(CLI::App& app) {
  app.set_help_flag("");
  declare_place_options(app);
  declare_isolation_options(app);
  for (const char* names : {"--timeout", "--idle-timeout", "--grace", "--memory", "--cpu-time", "--file-size",
                            "--open-files", "--processes", "--nice"}) {
    add_value(app, names);
  }
  for (const char* names : {"--merge-stderr", "--json", "--login-env", "-h,--help"}) app.add_flag(names);
  declare_container_options(app);
}

std::optional<std::chrono::milliseconds> limit_of(const CLI::App& app, const std::string& name) {
  const auto limit = duration_of(app, name);
  if (limit && limit->count() == 0) throw usage_error(fmt::format("{} must be more than 0", name));
  return limit;
}

std::optional<int> nice_of(const CLI::App& app) {
  const auto value = last_value_of(app, "--nice");
  if (!value) return std::nullopt;
  int number = 0;
  const char* const end = value->data() + value->size();
  const auto read = std::from_chars(value->data(), end, number);
  if (read.ec != std::errc() || read.ptr != end)
    throw usage_error(fmt::format("--nice: '{}' is not a whole number", *value));
  return number;
}

resource_limits limits_of(const CLI::App& app) {
  resource_limits limits;
  if (const auto bytes = size_of(app, "--memory")) limits.memory(*bytes);
  if (const auto time = limit_of(app, "--cpu-time")) limits.cpu_time(std::chrono::ceil<std::chrono::seconds>(*time));
  if (const auto bytes = size_of(app, "--file-size")) limits.file_size(*bytes);
  if (const auto count = number_of(app, "--open-files")) limits.open_files(*count);
  if (const auto count = number_of(app, "--processes")) limits.processes(*count);
  if (const auto value = nice_of(app)) limits.nice(*value);
  try {
    limits.validate();
  } catch (const error& mistake) {
    throw usage_error(mistake.message());
  }
  return limits;
}

/// On this host or in a container, with which environment.
void set_place_of(const CLI::App& app, exec_options& options) {
  options.container = container_of(app);
  if (options.container) {
    options.env = inherited_by_container(app);
    move_limits(*options.container, options.limits);
  } else {
    options.inherit_env = inherited_names(app);
    options.cwd = directory_of(app);
    options.isolation = isolation_of(app, options.cwd);
  }
  add_changes(options.env, environment_of(app));
}

}  // namespace

exec_options parse_exec_options(const words& arguments) {
  CLI::App app("", "exec");
  declare_options(app);
  auto divided = divide_words(app, arguments);
  parse_options(app, std::move(divided.options));

  exec_options options;
  options.help = app.count("--help") > 0;
  if (options.help) return options;
  if (divided.command.empty()) throw usage_error("no command given; 'berth help exec' shows how");
  options.command_words = std::move(divided.command);
  options.login_env = app.count("--login-env") > 0;
  options.timeout = limit_of(app, "--timeout");
  options.idle_timeout = limit_of(app, "--idle-timeout");
  options.grace = duration_of(app, "--grace");
  options.limits = limits_of(app);
  options.merge_stderr = app.count("--merge-stderr") > 0;
  options.json = app.count("--json") > 0;
  set_place_of(app, options);
  return options;
}

bool is_cwd_of_place(const exec_options& options) { return options.login_env || options.isolation; }

command make_command(const exec_options& options) {
  command what = command_of(options.command_words);
  set_place(what, is_cwd_of_place(options) ? std::string() : options.cwd, options.env);
  if (options.timeout) what.timeout(*options.timeout);
  if (options.idle_timeout) what.idle_timeout(*options.idle_timeout);
  if (options.grace) what.grace(*options.grace);
  what.limits(options.limits);
  what.merge_stderr(options.merge_stderr);
  what.hints(!options.json);
  what.input_stream();
  what.validate();
  return what;
}

}  // namespace berth::cli
