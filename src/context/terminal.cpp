#include <berth/terminal.hpp>

#include "context/kept_command.hpp"
#include "core/wipe.hpp"

#include <berth/error.hpp>

#include <utility>

namespace berth {
namespace {

constexpr auto shown = output_stream::std_out;

const std::shared_ptr<kept_command>& kept(const std::shared_ptr<kept_command>& core) {
  if (!core) throw error(errc::invalid_argument, "terminal: this object is empty");
  return core;
}

}  // namespace

terminal::terminal(std::shared_ptr<kept_command> core) : core_(std::move(core)) {}

const std::string& terminal::id() const noexcept {
  static const std::string none;
  return core_ ? core_->id() : none;
}

std::int64_t terminal::pid() const noexcept { return core_ ? core_->pid() : 0; }

task<void> terminal::write(std::string bytes) & { return kept_command::write(kept(core_), std::move(bytes)); }

task<void> terminal::write_secret(std::string bytes) & {
  std::string secret = movable_secret(std::move(bytes));
  return kept_command::write(kept(core_), std::move(secret));
}

void terminal::resize(int columns, int rows) { kept(core_)->resize(terminal_size(columns, rows)); }
terminal_size terminal::size() const noexcept { return core_ ? core_->size() : terminal_size(); }
void terminal::signal(int signo) { kept(core_)->signal(signo); }
task<exit_status> terminal::kill() & { return kept_command::kill(kept(core_)); }

log_piece terminal::read(std::uint64_t offset, std::size_t max) const {
  return kept(core_)->log(shown).read(offset, max);
}
log_piece terminal::tail(std::size_t max) const { return kept(core_)->log(shown).tail(max); }

task<log_piece> terminal::follow(std::uint64_t offset, std::size_t max) & {
  return kept_command::follow(kept(core_), shown, offset, max);
}

task<std::optional<output_match>> terminal::wait_for_output(output_pattern pattern,
                                                            std::chrono::milliseconds deadline) & {
  return kept_command::wait_for_output(kept(core_), std::move(pattern), deadline);
}

std::uint64_t terminal::attach_function(std::uint64_t offset, terminal_options::data_function callback) {
  return kept(core_)->attach(offset, std::move(callback));
}

void terminal::detach() { kept(core_)->attach(0, nullptr); }
task<exit_status> terminal::exited() & { return kept_command::wait(kept(core_)); }

const std::optional<denial>& terminal::denied() const noexcept {
  static const std::optional<denial> none;
  return core_ ? core_->denied() : none;
}

const std::optional<exit_status>& terminal::status() const noexcept {
  static const std::optional<exit_status> none;
  return core_ ? core_->status() : none;
}

}  // namespace berth
