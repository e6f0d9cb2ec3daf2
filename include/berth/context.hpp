#pragma once
/// A kind of place where commands run and files live, and everything that can be done there.

#include <berth/api.hpp>
#include <berth/backend.hpp>
#include <berth/background.hpp>
#include <berth/command.hpp>
#include <berth/error.hpp>
#include <berth/exec_result.hpp>
#include <berth/files.hpp>
#include <berth/handle.hpp>
#include <berth/process.hpp>
#include <berth/task.hpp>
#include <berth/terminal.hpp>

#include <asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

struct file_access;

/// A value over a shared backend: copies mean the same kind of place and know the same handles.
///
/// Functions that are awaited are `&`-qualified: keep the context in a variable. Every function of a handle throws
/// errc::destroyed for one that was destroyed or is not of this context.
/// Life: when the last copy goes, every handle that was not destroyed is ended the hard way (KILL, no grace), which may block
/// for some milliseconds. Contexts and what they gave die before the io_context.
class BERTH_API context {
 public:
  /// A context over a backend of your own; `executor` is where its coroutines run (one thread).
  context(asio::any_io_executor executor, std::shared_ptr<context_backend> backend);

  /// The backend's word: "process", "docker", ...
  std::string_view type() const noexcept;
  capabilities can() const noexcept;
  asio::any_io_executor get_executor() const;

  /// Makes a place and its working directory.
  /// Errors: permission_denied, not_a_directory, unavailable, resource_exhausted.
  task<handle> spawn() &;
  task<handle> spawn(spawn_options options) &;

  /// Ends everything in the place, and the place. A second call finds errc::destroyed.
  task<void> destroy(handle place) &;
  std::vector<handle> handles() const;

  /// Runs a command to its end and collects its output within the command's limits.
  ///
  /// What a command does is a value, not an exception: look at result.status. A start that failed is `start_failed`, a broken
  /// connection `lost`.
  /// Errors: invalid_argument for a command that cannot be (see `command::validate`), and for `command::input_stream`.
  /// Cancel: the command's tree is ended (TERM, grace, KILL), then the result returns as `cancelled` with what came; the next
  /// await of the caller throws operation_aborted. A command that had ended by itself keeps its status.
  task<exec_result> exec(handle place, command what) &;

  /// Starts a command and gives it to the caller to read, write and end. Returns once it runs.
  /// A start that failed gives a process whose next() is nullopt at once and whose status() says start_failed.
  task<process> exec_stream(handle place, command what) &;

  /// Starts a command that goes on by itself, with a log. Returns once it runs; a start that failed gives one whose status() says
  /// start_failed. With `command::key`: one of that key is given instead, running or ended, unless its start failed; a start that
  /// is under way is waited for.
  /// Cancel: nothing is left running.
  /// Life: it ends with its handle. While it runs it is listed; of those that have ended and that nobody holds, the last 100 are.
  task<background> exec_background(handle place, command what) &;
  /// In the order of their starts.
  std::vector<background> backgrounds(const handle& place) const;

  /// Opens a terminal: the login shell of the place's user, or what the options name.
  /// Errors: unsupported where the place has no terminals.
  /// Cancel, Life: as for exec_background.
  task<terminal> open_terminal(handle place) &;
  task<terminal> open_terminal(handle place, terminal_options options) &;
  std::vector<terminal> terminals(const handle& place) const;

  // Files. Relative paths start at the handle's cwd. Every message names the operation and the path. Errors of all of them:
  // invalid_argument for an empty path or one with a NUL, not_found, permission_denied (a read-only file system too),
  // not_a_directory, unsupported where the place has no files.

  /// The bytes of a regular file, or of a part of it. docs/files.md says what is promised about files.
  /// Errors: is_a_directory; unsupported for what is no regular file.
  task<std::string> read_file(handle place, std::string path) &;
  task<std::string> read_file(handle place, std::string path, read_options options) &;
  /// The same in pieces. The file that was there when this returned is read, even if it is replaced meanwhile.
  task<std::unique_ptr<byte_source>> open_file(handle place, std::string path) &;
  task<std::unique_ptr<byte_source>> open_file(handle place, std::string path, read_options options) &;

  /// Replaces a file, or makes it, in one step: whoever reads meanwhile sees the old bytes or the new ones, whole. Whatever goes
  /// wrong, the old file stays as it was. Links are followed to the file they mean; hard links are broken.
  /// Errors: is_a_directory, conflict (see `write_options::expect_hash`), already_exists, resource_exhausted for a full disk,
  /// permission_denied also where the directory does not allow a new file.
  /// Cancel: the old file stays, unless the very last step had begun.
  task<void> write_file(handle place, std::string path, std::string bytes) &;
  task<void> write_file(handle place, std::string path, std::string bytes, write_options options) &;
  /// From a producer, in bounded memory. What it throws passes unchanged.
  task<void> write_file(handle place, std::string path, std::unique_ptr<byte_source> bytes) &;
  task<void> write_file(handle place, std::string path, std::unique_ptr<byte_source> bytes, write_options options) &;

  /// What is in a directory, sorted by path. A link to a directory is followed only if it is the path itself.
  /// Errors: not_found for a directory that is not there, never an empty list.
  task<std::vector<file_info>> list_files(handle place, std::string path) &;
  task<std::vector<file_info>> list_files(handle place, std::string path, list_options options) &;
  task<file_info> stat(handle place, std::string path) &;
  /// With its parents. One that is there is no error.
  /// Errors: not_a_directory if something else is in the way.
  task<void> make_directory(handle place, std::string path) &;
  /// Removes a file, a link (not what it means), or an empty directory.
  /// Errors: conflict for a directory with something in it, unless it is asked for.
  task<void> remove(handle place, std::string path) &;
  task<void> remove(handle place, std::string path, remove_options options) &;
  /// Gives a file or directory another name on the same file system, in one step; an existing file of that name is replaced.
  task<void> rename(handle place, std::string from, std::string to) &;

  /// Copies a tree from the caller's host into the place: the content of directory `from` becomes content of directory `to`, made
  /// if missing; what else is there stays. A file becomes the file `to`. Modes, times (of trees), links and empty directories
  /// are kept, owners are not.
  /// Cancel: what has arrived stays; each file is there whole or not at all.
  task<transfer_progress> upload(handle place, std::string from, std::string to) &;
  task<transfer_progress> upload(handle place, std::string from, std::string to, transfer_options options) &;
  /// The same, to the caller's host. Nothing outside of `to` is touched, and `to` itself must be no link (invalid_argument).
  task<transfer_progress> download(handle place, std::string from, std::string to) &;
  task<transfer_progress> download(handle place, std::string from, std::string to, transfer_options options) &;

  /// Watches a directory or a file.
  /// Errors: resource_exhausted where the system allows no more watches.
  task<watcher> watch(handle place, std::string path) &;
  task<watcher> watch(handle place, std::string path, watch_options options) &;

 private:
  class state;
  file_access files_of(const handle& place) const;

  std::shared_ptr<state> state_;
};

}  // namespace berth
