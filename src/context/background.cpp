#include <berth/background.hpp>

#include "context/kept_command.hpp"

#include <berth/error.hpp>

#include <utility>

namespace berth {
namespace {

const std::shared_ptr<kept_command>& kept(const std::shared_ptr<kept_command>& core) {
  if (!core) throw error(errc::invalid_argument, "background: this object is empty");
  return core;
}

}  // namespace

output_pattern output_pattern::regex(std::string expression) {
  output_pattern made(std::move(expression));
  made.is_regex_ = true;
  return made;
}

background::background(std::shared_ptr<kept_command> core) : core_(std::move(core)) {}

const std::string& background::id() const noexcept {
  static const std::string none;
  return core_ ? core_->id() : none;
}

std::int64_t background::pid() const noexcept { return core_ ? core_->pid() : 0; }

log_piece background::read(output_stream stream, std::uint64_t offset, std::size_t max) const {
  return kept(core_)->log(stream).read(offset, max);
}

log_piece background::tail(output_stream stream, std::size_t max) const { return kept(core_)->log(stream).tail(max); }

task<log_piece> background::follow(output_stream stream, std::uint64_t offset, std::size_t max) & {
  return kept_command::follow(kept(core_), stream, offset, max);
}

task<exit_status> background::wait() & { return kept_command::wait(kept(core_)); }

task<std::optional<output_match>> background::wait_for_output(output_pattern pattern,
                                                              std::chrono::milliseconds deadline) & {
  return kept_command::wait_for_output(kept(core_), std::move(pattern), deadline);
}

task<bool> background::wait_for_port(std::uint16_t port, std::chrono::milliseconds deadline) & {
  return kept_command::wait_for_port(kept(core_), port, deadline);
}

task<std::vector<std::uint16_t>> background::ports() & { return kept_command::ports(kept(core_)); }
task<void> background::write(std::string bytes) & { return kept_command::write(kept(core_), std::move(bytes)); }
task<void> background::close_stdin() & { return kept_command::close_stdin(kept(core_)); }
void background::forget() { kept(core_)->forget(); }
void background::signal(int signo) { kept(core_)->signal(signo); }
task<exit_status> background::kill() & { return kept_command::kill(kept(core_)); }

const std::optional<denial>& background::denied() const noexcept {
  static const std::optional<denial> none;
  return core_ ? core_->denied() : none;
}

const std::optional<exit_status>& background::status() const noexcept {
  static const std::optional<exit_status> none;
  return core_ ? core_->status() : none;
}

resource_usage background::usage() const noexcept { return core_ ? core_->usage() : resource_usage(); }

bool background::streams_open() const noexcept { return core_ && core_->streams_open(); }

const std::string& background::spill_error() const noexcept {
  static const std::string none;
  return core_ ? core_->spill_error() : none;
}

}  // namespace berth
