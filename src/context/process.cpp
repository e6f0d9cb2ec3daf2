#include <berth/process.hpp>

#include "context/process_core.hpp"

#include <berth/error.hpp>

#include <utility>

namespace berth {
namespace {

const std::shared_ptr<process_core>& running(const std::shared_ptr<process_core>& core) {
  if (!core) throw error(errc::invalid_argument, "process: this object is empty");
  return core;
}

}  // namespace

process::process(std::shared_ptr<process_core> core) : core_(std::move(core)) {}

process& process::operator=(process&& other) noexcept {
  process(std::move(other)).core_.swap(core_);
  return *this;
}

process::~process() {
  if (core_) core_->drop();
}

std::int64_t process::pid() const noexcept { return core_ ? core_->pid() : 0; }

task<std::optional<chunk>> process::next() & { return process_core::next(running(core_)); }
task<exit_status> process::wait() & { return process_core::wait(running(core_)); }
task<void> process::write(std::string bytes) & { return process_core::write(running(core_), std::move(bytes)); }
task<void> process::close_stdin() & { return process_core::close_stdin(running(core_)); }
task<exit_status> process::kill() & { return process_core::kill(running(core_)); }

void process::signal(int signo) { running(core_)->signal(signo); }

void process::resize(int columns, int rows) { running(core_)->resize(terminal_size(columns, rows)); }
task<std::vector<std::uint16_t>> process::ports() & { return process_core::ports(running(core_)); }

const std::optional<exit_status>& process::status() const noexcept {
  static const std::optional<exit_status> none;
  return core_ ? core_->status() : none;
}

resource_usage process::usage() const noexcept { return core_ ? core_->state().usage() : resource_usage(); }

bool process::streams_open() const noexcept { return core_ && core_->state().streams_open(); }

const std::optional<denial>& process::denied() const noexcept {
  static const std::optional<denial> none;
  return core_ ? core_->denied() : none;
}

std::vector<survivor> process::survivors() const {
  return core_ ? core_->state().survivors() : std::vector<survivor>();
}

}  // namespace berth
