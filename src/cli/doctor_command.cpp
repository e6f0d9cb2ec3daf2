#include "cli/doctor_command.hpp"

#include "cli/arguments.hpp"
#include "cli/container_check.hpp"
#include "cli/daemon_words.hpp"
#include "cli/diagnosis.hpp"
#include "cli/isolation_check.hpp"
#include "cli/trial.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <berth/process_context.hpp>
#include <berth/version.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace berth::cli {

const std::string_view doctor_help = R"(Usage: berth doctor [OPTIONS]

Tells what works on this machine and what does not, each with its cause and what would mend it.

  ok       works
  limited  Berth works, with less than it could
  broken   something that Berth promises does not work here

It asks for a Docker or Podman daemon, and starts a container of the smallest image that is there,
without a network. A machine that has none is not broken.

Options:
  --image IMAGE         try a container of this image; pulled where it is missing
  --docker-host URL     the daemon; default: DOCKER_HOST, DOCKER_CONTEXT, the usual sockets
  --docker-context NAME
                        a context of the docker command
  --json                one JSON object
  -h, --help            this text

Exit code: 0, or 1 where something is broken.
)";

namespace {

std::string_view word_for(health state) {
  switch (state) {
    case health::ok:
      return "ok";
    case health::limited:
      return "limited";
    case health::broken:
      break;
  }
  return "broken";
}

/// Runs a real command, as `berth exec` would.
task<finding> run_command(asio::io_context& io) {
  finding found;
  found.name = "commands";
  try {
    auto trying = try_place(make_process_context(io), command("exit 7"));
    const auto tried = co_await std::move(trying);
    const exit_status& status = tried->second.status;
    const bool right = status.reason() == end_reason::exited && status.code() == 7;
    if (!right) found.state = health::broken;
    found.detail = right ? fmt::format("run, a shell in {:.1f} ms", tried->warm_ms) : describe(status);
  } catch (const std::system_error& failure) {
    found.state = health::broken;
    found.detail = failure.what();
  }
  if (found.state == health::broken) found.cure = "see what else is broken below";
  co_return found;
}

json as_json(const finding& each) {
  json_object members;
  members.append("name", each.name);
  members.append("state", std::string(word_for(each.state)));
  members.append("detail", to_text(each.detail));
  if (!each.cure.empty()) members.append("cure", each.cure);
  return members;
}

std::string json_report(const std::vector<finding>& all) {
  json_array checks;
  for (const auto& each : all) checks.push_back(as_json(each));
  json_object report;
  report.append("version", std::string(version));
  report.append("checks", std::move(checks));
  return json(std::move(report)).dump() + "\n";
}

std::string text_report(const std::vector<finding>& all) {
  std::string text;
  for (const auto& each : all) {
    text += fmt::format("{:<8} {:<17} {}\n", word_for(each.state), each.name, each.detail);
    if (!each.cure.empty()) text += fmt::format("{:<26} to mend it: {}\n", "", each.cure);
  }
  return text;
}

docker_context_options container_to_try(const CLI::App& app) {
  docker_context_options options;
  options.image = last_value_of(app, "--image").value_or("");
  daemon_words daemon = daemon_of(app);
  options.host = std::move(daemon.host);
  options.docker_context = std::move(daemon.docker_context);
  options.network = "none";
  return options;
}

task<int> examine(asio::io_context& io, docker_context_options container, bool as_objects) {
  std::vector<finding> all = examine_host();
  const finding commands = co_await run_command(io);
  all.insert(all.begin(), commands);
  const std::vector<finding> sandboxes = co_await examine_isolation(io);
  all.insert(all.end(), sandboxes.begin(), sandboxes.end());
  auto examining = examine_containers(io, std::move(container));
  const std::vector<finding> containers = co_await std::move(examining);
  all.insert(all.end(), containers.begin(), containers.end());
  const auto is_broken = [](const finding& each) { return each.state == health::broken; };
  const bool broken = std::any_of(all.begin(), all.end(), is_broken);
  const std::string report = as_objects ? json_report(all) : text_report(all);
  const int printed = print_text(report);
  if (printed != 0) co_return printed;
  co_return broken ? 1 : 0;
}

}  // namespace

task<int> doctor_command(asio::io_context& io, words arguments) {
  CLI::App app("", "doctor");
  app.set_help_flag("");
  for (const char* names : {"--json", "-h,--help"}) app.add_flag(names);
  add_value(app, "--image");
  declare_daemon_options(app);
  const auto divided = divide_words(app, arguments);
  if (!divided.command.empty()) throw usage_error("takes no arguments");
  parse_options(app, divided.options);
  if (app.count("--help") > 0) return show_help(doctor_help);
  return examine(io, container_to_try(app), app.count("--json") > 0);
}

}  // namespace berth::cli
