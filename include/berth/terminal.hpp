#pragma once
/// A command with a terminal of its own, which people and programs look at and type into.

#include <berth/api.hpp>
#include <berth/background.hpp>
#include <berth/callback.hpp>
#include <berth/command.hpp>
#include <berth/exit_status.hpp>
#include <berth/output_log.hpp>
#include <berth/task.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

/// How a terminal is opened. Default: the user's login shell, interactive, 80 columns and 24 rows, in the handle's directory.
class BERTH_API terminal_options {
 public:
  using data_function = std::function<void(std::string_view)>;

  terminal_options() = default;

  terminal_options& size(int columns, int rows) & {
    size_ = terminal_size(columns, rows);
    return *this;
  }
  /// Relative to the handle's. It must exist.
  terminal_options& cwd(std::string path) & {
    cwd_ = std::move(path);
    return *this;
  }
  terminal_options& env(std::string name, std::string value) & {
    env_.push_back({std::move(name), std::move(value)});
    return *this;
  }
  /// Removes what would be inherited.
  terminal_options& unset_env(std::string name) & {
    env_.push_back({std::move(name), std::nullopt});
    return *this;
  }
  /// Instead of the login shell. Its own size, cwd and environment count where they are not set here; its input, key, limits and
  /// timeouts hold. Without an input of its own, it reads what is typed with `terminal::write`.
  terminal_options& run(command what) & {
    run_ = std::move(what);
    return *this;
  }
  /// How much scrollback is kept. Default 1 MiB.
  terminal_options& scrollback(std::size_t bytes) & {
    scrollback_ = bytes;
    return *this;
  }
  /// Called with everything the terminal shows, from its beginning, until `terminal::detach`. The bytes are good for the call. See
  /// `terminal::attach`.
  template <class Callback>
  requires std::invocable < std::remove_reference_t<Callback>
  &, std::string_view > terminal_options& on_data(Callback&& callback) & {
    static_assert(named_callback<Callback>,
                  "on_data: give the callback a name before the call: auto callback = [...](...) {...};");
    on_data_ = std::forward<Callback>(callback);
    return *this;
  }
  terminal_options size(int columns, int rows) && { return std::move(size(columns, rows)); }
  terminal_options cwd(std::string path) && { return std::move(cwd(std::move(path))); }
  terminal_options env(std::string name, std::string value) && {
    return std::move(env(std::move(name), std::move(value)));
  }
  terminal_options unset_env(std::string name) && { return std::move(unset_env(std::move(name))); }
  terminal_options run(command what) && { return std::move(run(std::move(what))); }
  terminal_options scrollback(std::size_t bytes) && { return std::move(scrollback(bytes)); }
  template <class Callback>
  requires std::invocable < std::remove_reference_t<Callback>
  &, std::string_view > terminal_options on_data(Callback&& callback) && {
    return std::move(on_data(std::forward<Callback>(callback)));
  }

  const std::optional<terminal_size>& size() const noexcept { return size_; }
  const std::string& cwd() const noexcept { return cwd_; }
  const std::vector<command::env_change>& env_changes() const noexcept { return env_; }
  const std::optional<command>& run() const noexcept { return run_; }
  std::size_t scrollback() const noexcept { return scrollback_; }
  const data_function& on_data() const noexcept { return on_data_; }

 private:
  std::optional<terminal_size> size_;
  std::string cwd_;
  std::vector<command::env_change> env_;
  std::optional<command> run_;
  std::size_t scrollback_ = std::size_t{1} << 20;
  data_function on_data_;
};

class kept_command;

/// A terminal. A value: copies mean the same one, and dropping them all leaves it open with its handle
/// (`context::terminals` finds it again).
class BERTH_API terminal {
 public:
  terminal() = default;
  explicit terminal(std::shared_ptr<kept_command> core);

  const std::string& id() const noexcept;
  /// In the place of its command, as process::pid(); 0 where a backend has none.
  std::int64_t pid() const noexcept;

  /// Types. Several may write at once: each write goes in whole, in the order in which they began.
  /// Errors: std::errc::broken_pipe once it has ended; invalid_argument for a command that brought an input of its own.
  /// Cancel: what was not typed yet is dropped.
  task<void> write(std::string bytes) &;
  /// The same for a password or token: Berth's copies of the bytes are wiped after use, and they appear in no message or log of its
  /// own. What the terminal echoes is the command's doing, and is shown.
  task<void> write_secret(std::string bytes) &;
  /// Errors: invalid_argument for a size that cannot be.
  void resize(int columns, int rows);
  terminal_size size() const noexcept;
  /// To the group that the command leads. ^C is typed: write("\x03"). Errors: as process::signal.
  void signal(int signo);
  /// Ends the tree (HUP, grace, KILL) and waits until it is dead.
  task<exit_status> kill() &;

  /// What the scrollback has from `offset` on; waits for nothing. Several readers see the same bytes, each with its own cursor.
  log_piece read(std::uint64_t offset, std::size_t max = 64 * 1024) const;
  log_piece tail(std::size_t max = 64 * 1024) const;
  /// As read, but waits until there is a byte or the end.
  task<log_piece> follow(std::uint64_t offset, std::size_t max = 64 * 1024) &;
  /// See background::wait_for_output; lines end with CR LF as a rule.
  task<std::optional<output_match>> wait_for_output(output_pattern pattern, std::chrono::milliseconds deadline) &;

  /// Calls back with the scrollback from `offset` on, at once, then with everything that comes; instead of what was attached before.
  /// Gives the offset of the first byte that was still there. It is called on the thread of the io_context, and may itself attach,
  /// detach or write; it is let go of at the end, or when it throws.
  template <class Callback>
  requires std::invocable < std::remove_reference_t<Callback>
  &, std::string_view > std::uint64_t attach(std::uint64_t offset, Callback&& callback) {
    return attach_function(offset, terminal_options::data_function(std::forward<Callback>(callback)));
  }
  /// No callback any more; the terminal goes on with its handle.
  void detach();

  /// Waits for the end: by then everything it showed was called back and is in the scrollback. Nothing is shown afterwards.
  task<exit_status> exited() &;
  const std::optional<exit_status>& status() const noexcept;
  /// See process::denied.
  const std::optional<denial>& denied() const noexcept;

 private:
  std::uint64_t attach_function(std::uint64_t offset, terminal_options::data_function callback);

  std::shared_ptr<kept_command> core_;
};

}  // namespace berth
