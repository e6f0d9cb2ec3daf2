#pragma once
/// One file verb of a resident at work.

#include "berth/backend.hpp"
#include "berth/error.hpp"
#include "wire/file_verbs.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// Starts a command in the place of a resident.
using command_starter = std::function<task<std::unique_ptr<backend_process>>(command)>;

class resident_file_verb;
/// Programs of one place that have answered and wait for the next question.
struct resting_verbs {
  static constexpr std::size_t most = 4;
  std::vector<std::shared_ptr<resident_file_verb>> all;
};

/// Functions are static, and hold what they work on.
/// Life: destroyed before its end, the program is killed.
class resident_file_verb {
 public:
  using time_point = backend_process::time_point;
  enum class takes { nothing, input };

  explicit resident_file_verb(std::unique_ptr<backend_process> process) : process_(std::move(process)) {}

  static task<std::shared_ptr<resident_file_verb>> start(command_starter starter, std::vector<std::string> words,
                                                         takes what);
  /// The same for a verb that only looks (stat, list, read), by a program that answers several, if one is at rest.
  static task<std::shared_ptr<resident_file_verb>> ask(command_starter starter, std::shared_ptr<resting_verbs> resting,
                                                       std::vector<std::string> words);

  /// The next bytes of its output; empty once it has done all, after which a program that was asked is somebody else's. Throws what it says, or errc::lost where it ended without a word.
  static task<std::string> next(std::shared_ptr<resident_file_verb> self);
  /// Waits for its end, and drops its output.
  static task<void> finish(std::shared_ptr<resident_file_verb> self);
  /// Gives it bytes. One that reads no more has something to say: next() tells.
  static task<void> write(std::shared_ptr<resident_file_verb> self, std::string bytes);
  /// Gives it the pieces of the source, beginning with `first`, and the end mark; waits for its end.
  static task<void> feed(std::shared_ptr<resident_file_verb> self, std::unique_ptr<byte_source> from, std::string first,
                         bool ended);
  /// Cleanup: its input ends where it is, without an end mark, so that it leaves nothing; waits for its end.
  static task<void> settle(std::shared_ptr<resident_file_verb> self);

  /// Takes one more event of the process into account; output that came with it. `until` as in backend_process::next.
  static task<std::string> step(std::shared_ptr<resident_file_verb> self, time_point until);
  /// Nothing more will come.
  bool over() const noexcept { return streams_ended_ && exited_; }
  bool ready() const noexcept { return ready_; }
  /// Throws if its end is no good one.
  void check_end() const;

  /// Hears of what is left out.
  std::function<void(std::string)> skipped;

 private:
  static task<void> question(std::shared_ptr<resident_file_verb> self, std::shared_ptr<resting_verbs> resting,
                             std::string bytes);
  bool answered() const noexcept { return serves_ && done_ && received_ == *done_; }
  static void rest(const std::shared_ptr<resident_file_verb>& self);
  std::string take(process_event event);
  void answer(std::string_view bytes);
  void on_record(wire::record_type type, std::string_view fields);

  std::unique_ptr<backend_process> process_;
  std::string answers_;  ///< not parsed yet
  std::uint64_t received_ = 0;
  std::optional<std::uint64_t> done_;
  std::optional<error> failure_;
  std::string ending_;  ///< how it exited, for messages
  std::weak_ptr<resting_verbs> resting_;
  std::string first_;    ///< came while its answer was waited for
  bool serves_ = false;  ///< one question after another
  bool ready_ = false;
  bool reads_ = true;
  bool streams_ended_ = false;
  bool exited_ = false;
};

/// Takes records out of bytes that come in pieces. Throws errc::protocol for what are none.
class record_reader {
 public:
  void add(std::string bytes);
  /// The next whole one; its fields are valid until add().
  bool next(wire::record_type& type, std::string_view& fields);
  bool empty() const noexcept { return at_ == bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace berth
