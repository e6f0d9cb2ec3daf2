#pragma once
/// What to run, and how.

#include <berth/api.hpp>
#include <berth/limits.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth {

/// Where a command's standard input comes from.
enum class input_kind {
  closed,  ///< /dev/null: the first read says end of file (the default)
  bytes,   ///< the bytes given with `command::input`, then end of file
  stream,  ///< what `process::write` sends, until `process::close_stdin`
};

/// How large a terminal is.
class BERTH_API terminal_size {
 public:
  terminal_size() = default;
  terminal_size(int columns, int rows) : columns_(columns), rows_(rows) {}

  int columns() const noexcept { return columns_; }
  int rows() const noexcept { return rows_; }
  bool operator==(const terminal_size&) const = default;

 private:
  int columns_ = 80;
  int rows_ = 24;
};

/// Throws errc::invalid_argument for a size that no terminal has.
BERTH_API void require_possible(terminal_size size);

/// One command: shell text or an argument list, with everything that belongs to its start.
///
/// Setters come in pairs, so that both `cmd.cwd("/app")` and `co_await place.exec(h, command("make").cwd("/app"))` work. The
/// type has constructors on purpose: it is safe in an awaited expression with g++ 12, an aggregate is not.
class BERTH_API command {
 public:
  using milliseconds = std::chrono::milliseconds;

  /// Shell text: run as `/bin/sh -c TEXT`.
  command(std::string shell_text) : words_{std::move(shell_text)}, is_shell_(true) {}
  command(const char* shell_text) : command(std::string(shell_text)) {}
  /// An argument list: no shell. The program is searched in the command's PATH where it has no slash.
  explicit command(std::vector<std::string> argv) : words_(std::move(argv)), is_shell_(false) {}

  /// Working directory; relative to the handle's. It must exist. Default: the handle's.
  command& cwd(std::string path) & {
    cwd_ = std::move(path);
    return *this;
  }
  /// Sets one variable on top of the handle's environment.
  command& env(std::string name, std::string value) &;
  /// Removes one variable that would be inherited.
  command& unset_env(std::string name) &;
  /// Shell for shell text. Default "/bin/sh".
  command& shell(std::string path) & {
    shell_ = std::move(path);
    return *this;
  }
  /// Runs shell text in a login shell (`-l`), so that profile files are read. Costs what they cost.
  command& login_shell(bool on = true) & {
    login_ = on;
    return *this;
  }

  /// Feeds these bytes, then end of file. A command that never reads them is not held up by them.
  command& input(std::string bytes) & {
    input_kind_ = input_kind::bytes;
    input_ = std::move(bytes);
    return *this;
  }
  /// Leaves standard input open for `process::write` or `background::write`. Not for exec.
  command& input_stream() & {
    input_kind_ = input_kind::stream;
    input_.clear();
    return *this;
  }
  /// Standard input at its end from the start (the default).
  command& input_closed() & {
    input_kind_ = input_kind::closed;
    input_.clear();
    return *this;
  }

  /// Ends the command's whole tree after this time, counted from its start. Default: none. Must be > 0.
  command& timeout(milliseconds limit) & {
    timeout_ = limit;
    return *this;
  }
  /// Ends it after this time without a byte on either stream. Time in which nobody reads does not count. Default: none.
  command& idle_timeout(milliseconds limit) & {
    idle_timeout_ = limit;
    return *this;
  }
  /// How long a tree may take to end after TERM before KILL. Default 2 s; 0 is KILL at once.
  command& grace(milliseconds limit) & {
    grace_ = limit;
    return *this;
  }

  /// Most bytes kept of each stream by `exec`; the middle is dropped beyond it. Of a background command: the last ones. Default 1 MiB.
  command& output_limit(std::size_t bytes) & {
    output_limit_ = bytes;
    return *this;
  }
  /// Which part of the limit is kept of the beginning, 0 to 1; the rest is kept of the end. Default 0.5.
  command& output_split(double head) & {
    output_split_ = head;
    return *this;
  }
  /// `exec` and `exec_background` also write all output to new files (0600) on the caller's host: PATH (standard output) and PATH.stderr,
  /// in place of files there; devices are written as they are, links and FIFOs refused (invalid_argument). They throw, and nothing
  /// runs, where these cannot be opened; for a later error see `spill_error` of the result or background command.
  command& spill(std::string path) & {
    spill_ = std::move(path);
    return *this;
  }
  /// Both streams into one pipe: everything comes as std_out in the exact order of the writes.
  command& merge_stderr(bool on = true) & {
    merge_stderr_ = on;
    return *this;
  }
  /// Gives the command a session with a terminal (PTY) of this size for all three standard streams: everything it shows comes as
  /// std_out. Bytes of `input`, and those of `process::write` with `input_stream`, are typed; the end of the input types the
  /// terminal's end-of-file character once, without input before the command starts. A program sees it as the end where it reads
  /// lines and nothing was typed in the last one; else type it again. TERM is xterm-256color where neither the place nor the
  /// command sets it. `kill` begins with HUP instead of TERM.
  command& terminal(int columns, int rows) & {
    terminal_ = terminal_size(columns, rows);
    return *this;
  }
  /// Kernel limits. What is set here replaces what the handle has, also by more; what is not is the handle's.
  command& limits(resource_limits most) & {
    limits_ = most;
    return *this;
  }
  /// For `exec_background`: the name that the caller gives this command. While the handle has one of that name, running or ended,
  /// it is given instead of starting another.
  command& key(std::string name) & {
    key_ = std::move(name);
    return *this;
  }

  /// When the command exits by itself, what it left running is ended too (TERM, grace, KILL). Default: it lives on with the handle.
  command& end_leftovers(bool on = true) & {
    end_leftovers_ = on;
    return *this;
  }

  /// In a place with isolation, a command that seems to have been denied something gets one more line at the end of its standard error
  /// (merged output and terminals: of that), which names the setting. It goes into results, streams and logs, not into spill files, and
  /// changes neither the exit code nor what the command wrote. Turn it off where standard error is a protocol; `denied` of the result
  /// tells it even then. Default: on.
  command& hints(bool on) & {
    hints_ = on;
    return *this;
  }

  command cwd(std::string path) && { return std::move(cwd(std::move(path))); }
  command env(std::string name, std::string value) && { return std::move(env(std::move(name), std::move(value))); }
  command unset_env(std::string name) && { return std::move(unset_env(std::move(name))); }
  command shell(std::string path) && { return std::move(shell(std::move(path))); }
  command login_shell(bool on = true) && { return std::move(login_shell(on)); }
  command input(std::string bytes) && { return std::move(input(std::move(bytes))); }
  command input_stream() && { return std::move(input_stream()); }
  command input_closed() && { return std::move(input_closed()); }
  command timeout(milliseconds limit) && { return std::move(timeout(limit)); }
  command idle_timeout(milliseconds limit) && { return std::move(idle_timeout(limit)); }
  command grace(milliseconds limit) && { return std::move(grace(limit)); }
  command output_limit(std::size_t bytes) && { return std::move(output_limit(bytes)); }
  command output_split(double head) && { return std::move(output_split(head)); }
  command spill(std::string path) && { return std::move(spill(std::move(path))); }
  command merge_stderr(bool on = true) && { return std::move(merge_stderr(on)); }
  command terminal(int columns, int rows) && { return std::move(terminal(columns, rows)); }
  command limits(resource_limits most) && { return std::move(limits(most)); }
  command key(std::string name) && { return std::move(key(std::move(name))); }
  command end_leftovers(bool on = true) && { return std::move(end_leftovers(on)); }
  command hints(bool on) && { return std::move(hints(on)); }

  // What a backend reads.
  /// One variable that is set or removed.
  struct env_change {
    std::string name;
    std::optional<std::string> value;  ///< nullopt removes the variable
  };
  bool is_shell() const noexcept { return is_shell_; }
  /// Shell text as its only word, or the argument list.
  const std::vector<std::string>& words() const noexcept { return words_; }
  /// What is executed: the argument list, or shell, `-l` where asked, `-c` and the text.
  std::vector<std::string> argv() const;
  const std::string& cwd() const noexcept { return cwd_; }
  /// In the order given; the last change of a name wins.
  const std::vector<env_change>& env_changes() const noexcept { return env_; }
  input_kind input_from() const noexcept { return input_kind_; }
  const std::string& input_bytes() const noexcept { return input_; }
  /// Takes the bytes out, for who feeds them. The kind stays.
  std::string take_input() noexcept { return std::exchange(input_, {}); }
  std::optional<milliseconds> timeout() const noexcept { return timeout_; }
  std::optional<milliseconds> idle_timeout() const noexcept { return idle_timeout_; }
  milliseconds grace() const noexcept { return grace_; }
  std::size_t output_limit() const noexcept { return output_limit_; }
  double output_split() const noexcept { return output_split_; }
  const std::string& spill() const noexcept { return spill_; }
  bool merges_stderr() const noexcept { return merge_stderr_; }
  bool ends_leftovers() const noexcept { return end_leftovers_; }
  bool hints() const noexcept { return hints_; }

  const std::optional<terminal_size>& terminal() const noexcept { return terminal_; }
  const resource_limits& limits() const noexcept { return limits_; }
  const std::string& key() const noexcept { return key_; }
  /// Its output is read at leisure, and there may be a thousand of them: a backend that can keeps no descriptor here for it.
  /// Set by `exec_background`.
  command& background(bool on) & {
    background_ = on;
    return *this;
  }
  bool is_background() const noexcept { return background_; }

  /// Throws errc::invalid_argument naming the first field that cannot be: empty argv, NUL in a word, name with '=', time <= 0.
  void validate() const;

 private:
  std::vector<std::string> words_;
  bool is_shell_ = true;
  bool login_ = false;
  bool merge_stderr_ = false;
  bool end_leftovers_ = false;
  bool background_ = false;
  bool hints_ = true;
  input_kind input_kind_ = input_kind::closed;
  std::string shell_ = "/bin/sh";
  std::string cwd_;
  std::string input_;
  std::string spill_;
  std::vector<env_change> env_;
  std::optional<milliseconds> timeout_;
  std::optional<milliseconds> idle_timeout_;
  milliseconds grace_{2000};
  std::size_t output_limit_ = std::size_t{1} << 20;
  double output_split_ = 0.5;
  std::optional<terminal_size> terminal_;
  resource_limits limits_;
  std::string key_;
};

/// A command from its words, without a shell: `argv("git", "clone", url)`.
template <std::convertible_to<std::string>... Words>
command argv(std::string program, Words... words) {
  std::vector<std::string> list;
  list.reserve(1 + sizeof...(words));
  list.push_back(std::move(program));
  (list.push_back(std::string(std::move(words))), ...);
  return command(std::move(list));
}

}  // namespace berth
