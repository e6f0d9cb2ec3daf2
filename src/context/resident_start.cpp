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

}  // namespace

start_request::start_request(const command& what, const std::vector<std::string>& changes, bool hand_over)
    : cwd_(what.cwd()) {
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
  fields.put(payload_);
  wire::writer<std::string> to(payload_);
  for (const std::string& word : words) to.bytes(word);
  for (const std::string& change : changes) to.bytes(change);
  for (const command::env_change& change : what.env_changes()) put_change(to, change);
  words_size_ = payload_.size();
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

exit_status start_request::failure(wire::start_step step, int error) const {
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
