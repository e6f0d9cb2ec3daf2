#pragma once
/// A command that nobody needs to read: its output goes to logs at once. What background commands and terminals stand on.

#include "context/process_core.hpp"
#include "context/spill_file.hpp"
#include "core/event.hpp"

#include <berth/background.hpp>
#include <berth/command.hpp>
#include <berth/output_log.hpp>

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// Where all of a stream's bytes go, beside its log.
struct kept_spills {
  std::shared_ptr<spill_file> out;
  std::shared_ptr<spill_file> err;
};

/// Shared by the handle's list, the pump that reads it, and whoever holds its background or terminal.
class kept_command : public std::enable_shared_from_this<kept_command> {
 public:
  using clock = std::chrono::steady_clock;
  using data_function = std::function<void(std::string_view)>;

  kept_command(asio::any_io_executor executor, std::string id, const command& rules,
               std::shared_ptr<process_core> core);
  kept_command(const kept_command&) = delete;
  kept_command& operator=(const kept_command&) = delete;
  /// What still runs is killed: nobody would read it.
  ~kept_command();

  void spill_to(kept_spills files) { spills_ = std::make_unique<kept_spills>(std::move(files)); }

  /// Reads the command to its end. Throws nothing; cancelled, it kills the command and ends.
  static task<void> pump(std::shared_ptr<kept_command> self);
  /// The place is being destroyed: what is not known to have ended before was ended by that.
  void place_ends();

  static task<log_piece> follow(std::shared_ptr<kept_command> self, output_stream stream, std::uint64_t offset,
                                std::size_t max);
  static task<exit_status> wait(std::shared_ptr<kept_command> self);
  static task<exit_status> kill(std::shared_ptr<kept_command> self);
  static task<void> write(std::shared_ptr<kept_command> self, std::string bytes);
  static task<void> close_stdin(std::shared_ptr<kept_command> self);
  static task<std::vector<std::uint16_t>> ports(std::shared_ptr<kept_command> self);
  static task<std::optional<output_match>> wait_for_output(std::shared_ptr<kept_command> self, output_pattern pattern,
                                                           std::chrono::milliseconds deadline);
  static task<bool> wait_for_port(std::shared_ptr<kept_command> self, std::uint16_t port,
                                  std::chrono::milliseconds deadline);

  /// Its handle is to let go of it. Throws conflict while it runs.
  void forget();
  bool forgotten() const noexcept { return forgotten_; }

  void signal(int signo) { core_->signal(signo); }
  void resize(terminal_size size);
  /// Instead of the callback before; an empty one only ends that.
  std::uint64_t attach(std::uint64_t offset, data_function callback);

  const std::string& id() const noexcept { return id_; }
  std::int64_t pid() const noexcept { return core_->pid(); }
  const output_log& log(output_stream stream) const noexcept { return stream == output_stream::std_out ? out_ : err_; }
  terminal_size size() const noexcept { return size_; }
  const std::optional<exit_status>& status() const noexcept { return status_; }
  /// Its start failed; the status comes when its spills are closed.
  bool never_ran() const noexcept;
  clock::time_point ended_at() const noexcept { return ended_at_; }
  resource_usage usage() const noexcept { return core_->state().usage(); }
  bool streams_open() const noexcept { return core_->state().streams_open(); }
  const std::optional<denial>& denied() const noexcept { return core_->denied(); }
  const std::string& spill_error() const noexcept;

 private:
  class end_of_pump;
  class turn;
  struct attachment;

  static task<void> flush(std::shared_ptr<kept_command> self);
  static task<void> close_spills(std::shared_ptr<kept_command> self);

  bool take(const chunk& piece);
  void show(const std::shared_ptr<attachment>& to, std::string_view bytes);
  /// Kills what runs, and says what the command comes to.
  exit_status give_up(const std::exception_ptr& failure);
  exit_status seen_status() const;
  void finish(exit_status status);
  event& next_turn();

  asio::any_io_executor executor_;
  std::string id_;
  std::shared_ptr<process_core> core_;
  output_log out_;
  output_log err_;
  terminal_size size_;
  event changed_;  ///< a log or the status
  std::optional<exit_status> status_;
  clock::time_point ended_at_{};
  std::unique_ptr<kept_spills> spills_;
  std::unique_ptr<exit_status> place_ended_;  ///< what a command comes to whose place was destroyed
  bool forgotten_ = false;
  std::size_t taken_ = 0;  ///< since others had their turn

  std::shared_ptr<attachment> attached_;
  std::list<const turn*> writers_;
  std::optional<event> next_turn_;
};

}  // namespace berth
