#pragma once
/// What a context stands on. Implement these to give Berth a place of your own: starting a command and moving files is
/// all that a backend does; deadlines, drains, limits and results are written once, above it.

#include <berth/api.hpp>
#include <berth/command.hpp>
#include <berth/denial.hpp>
#include <berth/files.hpp>
#include <berth/handle.hpp>
#include <berth/process.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace berth {

/// What a backend can do; what it cannot do, it says here and refuses with errc::unsupported.
class BERTH_API capabilities {
 public:
  capabilities() = default;
  bool kills_tree = false;       ///< a kill ends everything the command started, setsid and double forks included
  bool separate_stderr = false;  ///< the two streams arrive apart
  /// Standard input can be written while the command runs, and closed. Then Berth feeds `command::input` through write();
  /// without it the backend finds the bytes in the command.
  bool stdin_stream = false;
  bool signals = false;              ///< any signal can be sent
  bool reports_usage = false;        ///< resource_usage is filled
  bool terminals = false;            ///< `command::terminal`, and sizes that change
  bool limits = false;               ///< `command::limits`
  bool lists_ports = false;          ///< the ports that a command listens on can be asked for
  bool survives_disconnect = false;  ///< commands outlive a broken connection and can be found again
  bool files = false;                ///< `backend_place::files` gives something
  bool watches_files = false;        ///< `backend_files::watch` works
};

/// Nothing happened before the given time.
struct nothing_yet {};
/// Both output streams are at their end; no chunk follows.
struct streams_ended {};
/// The command's first process ended. Output may still follow.
struct process_exited {
  exit_status status;
  resource_usage usage;
};
/// After a kill, or an end of leftovers: nothing of the tree is left but these.
struct tree_ended {
  std::vector<survivor> survivors;
};
/// The place was lost: nothing more will come.
struct process_lost {
  std::string message;
};
using process_event = std::variant<nothing_yet, chunk, streams_ended, process_exited, tree_ended, process_lost>;

/// One started command. Destroying it before process_exited came (and tree_ended, where a kill was asked for) kills the tree at
/// once, without waiting.
class BERTH_API backend_process {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  virtual ~backend_process() = default;
  /// As the command itself sees it; 0 where there is none.
  virtual std::int64_t pid() const noexcept = 0;
  /// The next thing that happened, or nothing_yet once `until` has passed, or before. What is there already comes even then: with
  /// a time in the past it looks without waiting. Each event comes once; one caller at a time.
  /// Cancel: ends the wait; no event is lost.
  virtual task<process_event> next(time_point until) = 0;
  /// Is it known here that the first process ended, whether next() has given that yet or not? It tells a command that ended by
  /// itself from one that a deadline ended while nobody was reading. Where a backend cannot know: false.
  virtual bool has_exited() const noexcept { return false; }
  /// Is it known here that nothing of the command runs any more: ended by itself, or everything of it after a kill? next() then
  /// gives the end before what is left of the output. Where a backend cannot know: false.
  virtual bool is_over() const noexcept { return false; }
  /// Writes all; throws std::errc::broken_pipe once nobody reads.
  virtual task<void> write(std::string bytes) = 0;
  virtual void close_stdin() = 0;
  virtual void signal(int signo) = 0;
  /// Only of a command with a terminal.
  virtual void resize(terminal_size) {}
  /// TCP ports on which processes of the command listen, ascending, each once. After its end: of what it left running.
  virtual task<std::vector<std::uint16_t>> ports();
  /// Asks for TERM, CONT, then KILL after the grace, to everything of the command; tree_ended follows, also where the first
  /// process has ended before. A second call can only shorten the grace.
  virtual void kill(std::chrono::milliseconds grace) = 0;
  /// The reading was given up while streams are open: from now on the place drains and discards them, so that what was left
  /// running is neither blocked nor sent SIGPIPE.
  virtual void abandon_streams() = 0;
  /// What the place denied it, where that can be guessed. Asked once next() will be called no more for output: all ended, or what was
  /// left running holds the streams open. Berth adds the line to the output, see `command::hints`.
  /// Cancel: it is asked again.
  virtual task<std::optional<denial>> denied(exit_status status);
};

/// What a watch has seen. Destroying it ends it.
class BERTH_API backend_watch {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  virtual ~backend_watch() = default;
  /// What happened, raw and in order; nothing once `until` has passed. With a time in the past it looks without waiting.
  /// Cancel: ends the wait; no event is lost.
  virtual task<std::vector<watch_event>> next(time_point until) = 0;
};

/// The files of one place. Paths are absolute and hold no NUL; links in them are followed, except for the last component where
/// that is said. Errors carry an errc where one fits; Berth adds which operation it was, and the path. What these functions
/// give does not need the place.
class BERTH_API backend_files {
 public:
  virtual ~backend_files() = default;
  /// A last link is not followed. `file_info::path` is the path given.
  virtual task<file_info> stat(std::string path) = 0;
  /// `file_info::path` is below the directory. In any order.
  virtual task<std::vector<file_info>> list(std::string path, list_options options) = 0;
  /// With its parents; one that is there is fine.
  virtual task<void> make_directory(std::string path) = 0;
  /// A last link is removed itself. Errors: conflict for a directory that is not empty.
  virtual task<void> remove(std::string path, remove_options options) = 0;
  /// As rename(2): replaces a file.
  virtual task<void> rename(std::string from, std::string to) = 0;
  virtual task<std::unique_ptr<byte_source>> open(std::string path, read_options options) = 0;
  /// All or nothing: until the stream has ended, and if it throws, the old file stays. A last link is followed.
  virtual task<void> write(std::string path, std::unique_ptr<byte_source> bytes, write_options options) = 0;
  /// The content of a directory, a last link followed, as a tar stream: its entries without the directory itself. What cannot be
  /// carried (sockets, fifos, devices) is left out, and `skipped` hears of it where the place can tell, until the stream has ended.
  virtual task<std::unique_ptr<byte_source>> pack(std::string path, std::vector<std::string> excluded,
                                                  std::function<void(std::string)> skipped) = 0;
  /// Makes the directory if it is missing, and in it what the tar stream holds. Nothing outside of it may be touched.
  virtual task<void> unpack(std::string path, std::unique_ptr<byte_source> tar) = 0;
  virtual task<std::unique_ptr<backend_watch>> watch(std::string path, watch_options options) = 0;
};

/// One spawned place. Destroying it without `destroy` ends everything in it the hard way.
class BERTH_API backend_place {
 public:
  virtual ~backend_place() = default;
  /// Starts a command whose cwd() is absolute. Cancelled, as when the command's timeout passes first, it leaves nothing running. A command that could not be started is no exception: the process then gives
  /// process_exited with start_failed, streams_ended and nothing else.
  virtual task<std::unique_ptr<backend_process>> start(command what) = 0;
  /// Ends everything in the place and the place itself, and waits for it.
  virtual task<void> destroy() = 0;
  /// Its files; they live as long as the place. Null where a backend has none.
  virtual backend_files* files() noexcept { return nullptr; }
};

/// A place just made, with the absolute working directory it starts in.
struct spawned_place {
  std::shared_ptr<backend_place> place;
  std::string cwd;
};

/// A kind of place.
class BERTH_API context_backend {
 public:
  virtual ~context_backend() = default;
  /// One word, as in `handle::type`.
  virtual std::string_view type() const noexcept = 0;
  virtual capabilities can() const noexcept = 0;
  /// Makes a place; `id` is unique in its context.
  virtual task<spawned_place> spawn(std::string id, spawn_options options) = 0;
};

}  // namespace berth
