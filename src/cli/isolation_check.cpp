#include "cli/isolation_check.hpp"

#include "cli/trial.hpp"
#include "core/deadline.hpp"
#include "core/text.hpp"
#include "isolation/find_bwrap.hpp"
#include "isolation/home.hpp"
#include "os/scratch_directory.hpp"

#include <berth/error.hpp>
#include <berth/process_context.hpp>

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace berth::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto most_time = 5s;

/// What `berth exec --isolate` could write here. None where that is refused.
std::vector<std::string> roots_here() {
  std::error_code code;
  const std::string here = std::filesystem::current_path(code).string();
  if (code || is_wide_root(here)) return {};
  return {here};
}

task<finding> run_in_sandbox(asio::io_context& io, std::string directory) {
  process_context_options options;
  options.cwd = std::move(directory);
  options.isolation = isolation_settings().writable_roots(roots_here());
  context place = make_process_context(io, std::move(options));
  auto trying = try_place(std::move(place), command("true"));
  const auto tried = co_await std::move(trying);
  finding found{
      "isolation", health::ok,
      fmt::format("a sandbox opens in {:.0f} ms, a shell in it in {:.1f} ms", tried->opening_ms, tried->warm_ms)};
  const exec_result& first = tried->first;
  if (first.status.reason() == end_reason::start_failed) {
    found = without_sandbox(first.status.message());
  } else if (!first.ok() || !tried->second.ok()) {
    const exit_status& status = first.ok() ? tried->second.status : first.status;
    found = {"isolation", health::broken, "a command in a sandbox: " + describe(status),
             "see what else is broken here"};
  }
  co_return found;
}

task<finding> bwrap_found(asio::io_context& io) {
  const std::string program = find_bwrap(roots_here());
  context place = make_process_context(io);
  const handle here = co_await place.spawn();
  const exec_result printed = co_await place.exec(here, argv(program, "--version"));
  co_await place.destroy(here);
  co_return bwrap_version(printed.std_out, program);
}

/// 0.12 as 12, 1.0 as 1000; -1 where there is no number.
int printed_number(std::string_view printed) {
  int major = 0;
  int minor = 0;
  const auto digit = printed.find_first_of("0123456789");
  if (digit == printed.npos) return -1;
  const char* const end = printed.data() + printed.size();
  const auto first = std::from_chars(printed.data() + digit, end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return -1;
  const auto second = std::from_chars(first.ptr + 1, end, minor);
  return second.ec == std::errc() ? major * 1000 + minor : -1;
}

finding not_examined(const std::system_error& failure) {
  const auto* const own = dynamic_cast<const error*>(&failure);
  const std::string why = own != nullptr ? own->message() : std::string(failure.what());
  if (failure.code() == errc::timeout)
    return {"isolation", health::limited, fmt::format("no sandbox within {} s", most_time.count()),
            "see whether bwrap runs by itself: bwrap --ro-bind / / true"};
  return {"isolation", health::limited, why, "install bubblewrap 0.8 or later"};
}

}  // namespace

finding without_sandbox(std::string_view message) {
  constexpr std::string_view prefix = "[isolation] ";
  constexpr std::string_view suffix = "; command was not run";
  if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  if (message.ends_with(suffix)) message.remove_suffix(suffix.size());
  finding found{"isolation", health::limited, std::string(message), "docs/isolation.md says what a sandbox needs"};
  // What helps stands in parentheses.
  const auto open = message.find(" (");
  if (!message.ends_with(')') || open == message.npos) return found;
  found.detail = message.substr(0, open);
  found.cure = message.substr(open + 2, message.size() - open - 3);
  return found;
}

finding bwrap_version(std::string_view printed, std::string_view program) {
  constexpr int oldest = 8;
  constexpr int mended = 12;
  while (!printed.empty() && (printed.back() == '\n' || printed.back() == '\r')) printed.remove_suffix(1);
  const int number = printed_number(printed);
  if (number < 0)
    return {"bwrap", health::limited,
            fmt::format("{}: it does not tell its version{}", program,
                        printed.empty() ? "" : ", but " + to_text(printed.substr(0, printed.find('\n')))),
            "bubblewrap 0.8 or later in its place; it is the first in PATH that may be taken"};
  const std::string detail = fmt::format("{}, {}", to_text(printed), program);
  if (number < oldest) return {"bwrap", health::limited, detail + ": too old", "bubblewrap 0.8 or later"};
  if (number < mended)
    return {"bwrap", health::limited,
            detail + ": a known weakness where it mounts (CVE-2026-87766, mended in 0.12); Berth keeps clear of it",
            "bubblewrap 0.12 or later; a distribution may have mended an earlier one"};
  return {"bwrap", health::ok, detail};
}

task<std::vector<finding>> examine_isolation(asio::io_context& io) {
  std::vector<finding> all;
  try {
    auto looking = bwrap_found(io);
    auto bounded = with_deadline(std::move(looking), most_time);
    finding found = co_await std::move(bounded);
    all.push_back(std::move(found));
    const scratch_directory empty("berth-doctor");
    auto running = run_in_sandbox(io, empty.path());
    auto limited = with_deadline(std::move(running), most_time);
    found = co_await std::move(limited);
    all.insert(all.begin(), std::move(found));
  } catch (const std::system_error& failure) {
    all.insert(all.begin(), not_examined(failure));
  }
  co_return all;
}

}  // namespace berth::cli
