#include "cli/reap_command.hpp"

#include "cli/arguments.hpp"
#include "cli/daemon_words.hpp"
#include "core/json.hpp"
#include "core/shown_path.hpp"
#include "core/text.hpp"

#include <berth/docker_reap.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <string>
#include <utility>

namespace berth::cli {

const std::string_view reap_help = R"(Usage: berth reap [OPTIONS]

Removes containers that Berth made and whose owner was killed, with their anonymous volumes.

They go by themselves when their owner ends, whatever ends it: at once where the daemon runs on this
machine, else when their lease has passed. This is for those that could not, since the daemon was
stopped meanwhile, or since they were made and not yet started. Without a need nothing is found.

Only what belongs to nobody is removed: the owner's process is gone, or this machine was started
again since. Containers of living programs and those of other machines are listed and stay. Ones
that Berth did not make are not looked at.

Options:
  --dry-run             only tell what would be removed
  --json                one JSON object a line: id, name, image, state, owner, owner_pid,
                        owner_host, action, failure
  --docker-host URL     the daemon; default: DOCKER_HOST, DOCKER_CONTEXT, the usual sockets
  --docker-context NAME
                        a context of the docker command
  -h, --help            this text

Each container of Berth's is a line: what was done (removed, would remove, kept, failed), its id,
its name, and whose it is.

Exit code: 0; 1 if a container could not be removed (the others are); 125 when berth itself failed
or was called wrongly, or no daemon answers.
)";

namespace {

struct reap_request {
  reap_options options;
  bool as_objects = false;
};

std::string_view action_of(const found_container& each, bool dry_run) {
  if (each.removed) return "removed";
  if (each.owner != owner_state::dead) return "kept";
  return dry_run ? "would remove" : "failed";
}

std::string_view word_for(owner_state owner) {
  if (owner == owner_state::alive) return "alive";
  return owner == owner_state::dead ? "dead" : "unknown";
}

/// Whose it is, for a person.
std::string owner_text(const found_container& each) {
  if (each.owner_pid == 0) return "its labels do not say whose it is";
  const std::string process = fmt::format("process {}", each.owner_pid);
  if (each.owner == owner_state::alive) return fmt::format("of {}, which runs", process);
  if (each.owner == owner_state::dead) return fmt::format("of {}, which is gone", process);
  return fmt::format("of {} on {}, which cannot be seen from here", process, shown_path(each.owner_host));
}

std::string text_line(const found_container& each, bool dry_run) {
  constexpr std::size_t short_id = 12;  // as docker shows it
  std::string line = fmt::format("{:<12} {} {}, {}", action_of(each, dry_run), each.id.substr(0, short_id),
                                 to_text(each.name), owner_text(each));
  if (!each.failure.empty()) line += ": " + to_text(each.failure);
  return line + '\n';
}

std::string json_line(const found_container& each, bool dry_run) {
  json_object members{
      {"id", each.id},
      {"name", to_text(each.name)},
      {"image", to_text(each.image)},
      {"state", to_text(each.state)},
      {"owner", word_for(each.owner)},
      {"owner_pid", each.owner_pid},
      {"owner_host", to_text(each.owner_host)},
      {"action", action_of(each, dry_run)},
  };
  if (!each.failure.empty()) members.append("failure", to_text(each.failure));
  return json(std::move(members)).dump() + '\n';
}

task<int> reap(asio::io_context& io, reap_request what) {
  const bool dry_run = what.options.is_dry_run();
  auto reaping = reap_containers(io.get_executor(), std::move(what.options));
  const auto found = co_await std::move(reaping);
  std::string lines;
  bool has_failed = false;
  for (const auto& each : found) {
    lines += what.as_objects ? json_line(each, dry_run) : text_line(each, dry_run);
    has_failed = has_failed || !each.failure.empty();
  }
  const int printed = print_text(lines);
  if (printed != 0) co_return printed;
  co_return has_failed ? 1 : 0;
}

}  // namespace

task<int> reap_command(asio::io_context& io, words arguments) {
  CLI::App app("", "reap");
  app.set_help_flag("");
  for (const char* names : {"--dry-run", "--json", "-h,--help"}) app.add_flag(names);
  declare_daemon_options(app);
  auto divided = divide_words(app, arguments);
  if (!divided.command.empty()) throw usage_error("takes no arguments");
  parse_options(app, std::move(divided.options));
  if (app.count("--help") > 0) return show_help(reap_help);
  reap_request what;
  what.as_objects = app.count("--json") > 0;
  what.options.dry_run(app.count("--dry-run") > 0);
  daemon_words daemon = daemon_of(app);
  what.options.host(std::move(daemon.host));
  what.options.docker_context(std::move(daemon.docker_context));
  return reap(io, std::move(what));
}

}  // namespace berth::cli
