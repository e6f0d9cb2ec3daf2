#include "cli/container_check.hpp"

#include "cli/pull_display.hpp"
#include "core/deadline.hpp"
#include "core/text.hpp"

#include <berth/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace berth::cli {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto answer_time = 15s;
constexpr auto trial_time = 30s;
constexpr auto pull_time = 30min;
constexpr std::size_t most_tried = 3;
constexpr int tried_code = 7;

std::string own_text(const std::system_error& failure) {
  const auto* const own = dynamic_cast<const error*>(&failure);
  return own != nullptr ? own->message() : std::string(failure.what());
}

std::string cure_without_daemon(const std::error_code& code) {
  if (code == errc::unsupported) return "build berth where OpenSSL 3 and its headers are; Docker 20.10 or later";
  if (code == errc::not_found || code == errc::invalid_argument) return "another name, or none";
  return "install and start Docker or Podman (docker.io, podman), or name a daemon by DOCKER_HOST; only containers "
         "need it";
}

finding no_daemon(const std::system_error& failure) {
  if (failure.code() == errc::timeout)
    return {"docker", health::limited, fmt::format("the daemon gave no answer within {} s", answer_time.count()),
            "see what holds it up: journalctl -u docker"};
  return {"docker", health::limited, own_text(failure), cure_without_daemon(failure.code())};
}

/// A command in a container of this image.
task<finding> try_image(asio::io_context& io, docker_context_options options) {
  const std::string image = options.image;
  const auto display = std::make_shared<pull_display>("doctor");
  const auto is_framed = std::make_shared<bool>(false);
  options.on_pull = [display](const pull_progress& now) { display->tell(now); };
  options.log = [is_framed](log_level, std::string_view text) {
    if (text.find("travels in frames") != text.npos) *is_framed = true;
  };
  context place = make_docker_context(io, std::move(options));
  auto trying = try_place(std::move(place), command(fmt::format("exit {}", tried_code)));
  const auto tried = co_await std::move(trying);
  display->finish();
  finding found = container_finding(image, *tried);
  if (*is_framed && found.state == health::ok)
    found.detail += "; output travels in frames, since the daemon sees no socket of ours";
  co_return found;
}

finding not_started(const std::string& image, const std::system_error& failure) {
  finding found{"containers", health::limited, own_text(failure),
                "berth doctor --image IMAGE with another image, such as busybox"};
  if (failure.code() == errc::timeout)
    found = {"containers", health::limited, fmt::format("none of {} within {} s", image, trial_time.count()),
             "see what holds the daemon up: journalctl -u docker"};
  return found;
}

task<finding> try_in_time(asio::io_context& io, docker_context_options options) {
  const std::string image = options.image;
  const auto time = options.pull == pull_policy::never ? clock::duration(trial_time) : clock::duration(pull_time);
  try {
    auto trying = try_image(io, std::move(options));
    auto bounded = with_deadline(std::move(trying), time);
    co_return co_await std::move(bounded);
  } catch (const std::system_error& failure) {
    co_return not_started(image, failure);
  }
}

/// Images may be for other machines: the smallest of some that works.
task<finding> try_images(asio::io_context& io, docker_context_options options, std::vector<std::string> images) {
  finding found{"containers", health::limited, "not tried: the daemon has no image",
                "berth doctor --image IMAGE pulls one and tries it"};
  images.resize(std::min(images.size(), most_tried));
  for (std::string& each : images) {
    options.image = std::move(each);
    auto trying = try_in_time(io, options);
    found = co_await std::move(trying);
    if (found.state == health::ok) break;
  }
  co_return found;
}

task<daemon_report> ask_daemon(asio::io_context& io, std::string host, std::string name) {
  auto asking = examine_daemon(io.get_executor(), std::move(host), std::move(name));
  auto bounded = with_deadline(std::move(asking), answer_time);
  co_return co_await std::move(bounded);
}

}  // namespace

finding daemon_finding(const daemon_report& report) {
  finding found;
  found.name = "docker";
  found.detail = fmt::format("{} {}{}, API {}, at {} ({}), storage {}", report.is_podman ? "Podman" : "Docker",
                             to_text(report.version), report.is_rootless ? ", rootless" : "", report.api_version,
                             report.url, report.from, to_text(report.driver));
  if (!report.cgroups.empty()) found.detail += fmt::format(", cgroups {}", to_text(report.cgroups));
  if (report.missing_limits.empty()) return found;
  std::string missing;
  for (const auto& each : report.missing_limits) missing += (missing.empty() ? "" : ", ") + each;
  found.state = health::limited;
  found.detail += "; it cannot limit " + missing;
  found.cure = report.is_rootless ? "cgroups 2, delegated to the user (systemd: Delegate=cpu memory pids)"
                                  : "a kernel with these cgroup controllers switched on";
  return found;
}

finding container_finding(const std::string& image, const trial& tried) {
  const exit_status& first = tried.first.status;
  if (first.reason() == end_reason::start_failed)
    return {"containers", health::ok,
            fmt::format("one of {} starts; it has no shell, only programs can be run", image)};
  const auto is_right = [](const exit_status& status) { return status == exit_status::exited(tried_code); };
  if (is_right(first) && is_right(tried.second.status))
    return {"containers", health::ok,
            fmt::format("one of {} starts in {:.0f} ms, a shell in it in {:.1f} ms", image, tried.opening_ms,
                        tried.warm_ms)};
  const exit_status& failed = is_right(first) ? tried.second.status : first;
  return {"containers", health::limited, fmt::format("a command in one of {}: {}", image, describe(failed)),
          "berth doctor --image IMAGE with another image, such as busybox"};
}

task<std::vector<finding>> examine_containers(asio::io_context& io, docker_context_options options) {
  std::vector<finding> all;
  std::vector<std::string> images;
  try {
    auto asking = ask_daemon(io, options.host, options.docker_context);
    const daemon_report report = co_await std::move(asking);
    all.push_back(daemon_finding(report));
    images = report.images;
  } catch (const std::system_error& failure) {
    all.push_back(no_daemon(failure));
    co_return all;
  }
  if (!options.image.empty()) images = {options.image};
  const auto pull = options.image.empty() ? pull_policy::never : pull_policy::missing;
  options.pull = pull;
  auto trying = try_images(io, std::move(options), std::move(images));
  finding found = co_await std::move(trying);
  all.push_back(std::move(found));
  co_return all;
}

}  // namespace berth::cli
