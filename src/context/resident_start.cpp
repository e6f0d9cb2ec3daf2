#include "context/resident_start.hpp"

#include "context/resident_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

namespace berth {
namespace {

constexpr std::size_t largest_word = 131072;  // MAX_ARG_STRLEN
constexpr int cannot_run = 126;
constexpr int not_found = 127;

std::string meaning(int error) { return std::generic_category().message(error); }

void put_change(wire::writer<std::string>& to, const command::env_change& change) {
  const std::size_t size = change.name.size() + (change.value ? 1 + change.value->size() : 0);
  to.u32(static_cast<std::uint32_t>(std::min<std::size_t>(size, wire::max_payload)));
  to.raw(change.name);
  if (change.value) to.raw("=").raw(*change.value);
}

std::uint32_t milliseconds(std::chrono::milliseconds time) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(time.count(), 0, most));
}

std::size_t total(const std::vector<std::string>& words) {
  std::size_t sum = 0;
  for (const std::string& word : words) sum += word.size() + 1;
  return sum;
}

struct wire_limit {
  wire::limit kind;
  std::uint64_t number;
  const char* name;
};

std::vector<wire_limit> limits_of(const resource_limits& limits) {
  std::vector<wire_limit> all;
  const auto add = [&all](wire::limit kind, std::uint64_t number, const char* name) {
    all.push_back({kind, number, name});
  };
  if (limits.memory()) add(wire::limit::memory, *limits.memory(), "memory");
  if (limits.cpu_time())
    add(wire::limit::cpu_time, static_cast<std::uint64_t>(limits.cpu_time()->count()), "processor seconds");
  if (limits.file_size()) add(wire::limit::file_size, *limits.file_size(), "file size");
  if (limits.processes()) add(wire::limit::processes, *limits.processes(), "processes");
  if (limits.open_files()) add(wire::limit::open_files, *limits.open_files(), "open files");
  if (limits.nice()) add(wire::limit::nice, static_cast<std::uint64_t>(std::int64_t{*limits.nice()}), "niceness");
  return all;
}

/// Those that a cgroup does not hold already: beside it they would only refuse what it allows.
std::vector<wire_limit> limits_beside(const wire::start& fields, const resource_limits& limits) {
  std::vector<wire_limit> all = limits_of(limits);
  std::erase_if(all, [&fields](const wire_limit& each) {
    return (each.kind == wire::limit::memory && fields.cgroup_memory > 0) ||
           (each.kind == wire::limit::processes && fields.cgroup_processes > 0);
  });
  return all;
}

}  // namespace

start_request::start_request(const command& what, const std::vector<std::string>& changes, bool hand_over,
                             const cgroup_place* place)
    : cwd_(what.cwd()), limits_(what.limits()) {
  const std::vector<std::string> words = what.argv();
  program_ = words.front();
  if (hand_over) flags_ |= wire::start_hand_over;
  if (what.input_from() != input_kind::closed) flags_ |= wire::start_input_pipe;
  if (what.merges_stderr()) flags_ |= wire::start_merge_stderr;
  if (what.ends_leftovers()) flags_ |= wire::start_end_leftovers;
  wire::start fields;
  if (what.terminal()) {
    flags_ |= wire::start_terminal;
    fields.columns = static_cast<std::uint32_t>(what.terminal()->columns());
    fields.rows = static_cast<std::uint32_t>(what.terminal()->rows());
  }
  payload_.reserve(total(words) + total(changes) + 256);
  fields.flags = flags_;
  fields.grace_ms = milliseconds(what.grace());
  fields.cwd = cwd_;
  fields.argc = static_cast<std::uint32_t>(words.size());
  fields.envc = static_cast<std::uint32_t>(changes.size() + what.env_changes().size());
  if (place != nullptr && place->memory) fields.cgroup_memory = limits_.memory().value_or(0);
  if (place != nullptr && place->processes) fields.cgroup_processes = limits_.processes().value_or(0);
  if (fields.cgroup_memory > 0 || fields.cgroup_processes > 0) cgroup_ = place->path;
  fields.cgroup = cgroup_;
  const std::vector<wire_limit> limits = limits_beside(fields, limits_);
  fields.limitc = static_cast<std::uint32_t>(limits.size());
  fields.put(payload_);
  wire::writer<std::string> to(payload_);
  for (const std::string& word : words) to.bytes(word);
  for (const std::string& change : changes) to.bytes(change);
  for (const command::env_change& change : what.env_changes()) put_change(to, change);
  words_size_ = payload_.size();
  for (const wire_limit& limit : limits) wire::put_limit(payload_, limit.kind, limit.number);
}

std::size_t start_request::fds() const noexcept {
  if ((flags_ & wire::start_hand_over) == 0) return 0;
  if (has_terminal()) return 1;
  return 1 + (merges() ? 0 : 1) + (has_input() ? 1 : 0);
}

std::string start_request::frame(std::uint32_t id) {
  const std::string payload = std::move(payload_);
  return make_frame(wire::frame_type::start, id, wire::stream::in, payload);
}

std::string start_request::limit_refused(std::uint32_t kind, int error) const {
  for (const wire_limit& limit : limits_of(limits_)) {
    if (static_cast<std::uint32_t>(limit.kind) != kind) continue;
    if (limit.kind == wire::limit::nice)
      return fmt::format("cannot add {} to the niceness: {}", *limits_.nice(), meaning(error));
    return fmt::format("cannot set the limit of {} to {}: {}", limit.name, limit.number, meaning(error));
  }
  return fmt::format("cannot set a limit: {}", meaning(error));
}

exit_status start_request::failure(wire::start_failed why) const {
  const wire::start_step step = why.step;
  const int error = static_cast<int>(why.error);
  const auto failed = [](int code, std::string message) { return exit_status::start_failed(code, std::move(message)); };
  if (error == E2BIG) {
    return failed(
        cannot_run,
        fmt::format(
            "the arguments and environment are too long ({} bytes); one argument may have at most {} bytes, and all "
            "of them and the environment together about 2 MiB",
            words_size_, largest_word - 1));
  }
  if (error == EMFILE || error == ENFILE)
    return failed(cannot_run, "too many open files: no descriptor is left for the streams of the command");
  if (step == wire::start_step::limits) return failed(cannot_run, limit_refused(why.detail, error));
  if (step == wire::start_step::cgroup)
    return failed(cannot_run, fmt::format("no cgroup for the limits of the command can be made below '{}': {}", cgroup_,
                                          meaning(error)));
  if (step == wire::start_step::terminal)
    return failed(cannot_run, fmt::format("no terminal can be opened: {}", meaning(error)));
  if (step == wire::start_step::cwd)
    return failed(cannot_run, fmt::format("working directory '{}': {}", cwd_, meaning(error)));
  if (step == wire::start_step::exec) {
    const bool searched = program_.find('/') == program_.npos;
    if (error == ENOENT && searched)
      return failed(not_found, fmt::format("cannot run '{}': not found in PATH", program_));
    return failed(error == ENOENT ? not_found : cannot_run,
                  fmt::format("cannot run '{}': {}", program_, meaning(error)));
  }
  if (error == EAGAIN)
    return failed(cannot_run, fmt::format("cannot run '{}': no more processes can be started", program_));
  return failed(cannot_run, fmt::format("cannot start '{}': {}", program_, meaning(error)));
}

}  // namespace berth
