#pragma once
/// The background commands and terminals of one handle, and the pumps that read them.

#include "context/exec.hpp"
#include "context/kept_command.hpp"
#include "core/task_group.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace berth {

enum class kept_kind { background, terminal };

/// Owned by the handle's entry alone: while something is awaited here nobody holds it, so that it goes with its context.
///
/// Life: destroying it kills what runs, without waiting.
class kept_commands : public std::enable_shared_from_this<kept_commands> {
 public:
  /// Commands that have ended and that nobody holds are listed up to so many.
  static constexpr std::size_t ended_kept = 100;

  /// What a start takes beside the command.
  struct wish {
    kept_kind kind = kept_kind::background;
    kept_command::data_function on_data = {};
  };

  explicit kept_commands(asio::any_io_executor executor);

  /// Starts the command, or gives the one of its kind that has its key. One whose start failed does not keep the key.
  /// Cancel: nothing is left running.
  static task<std::shared_ptr<kept_command>> start(std::weak_ptr<kept_commands> at, exec_place where, command what,
                                                   wish wanted);
  /// In the order of their starts.
  std::vector<std::shared_ptr<kept_command>> list(kept_kind kind) const;

  /// The place is about to be destroyed: nothing more starts.
  void close();
  /// Once it was: waits until everything is read.
  static task<void> join(std::shared_ptr<kept_commands> self);

 private:
  class reservation;
  struct entry {
    kept_kind kind = kept_kind::background;
    std::shared_ptr<kept_command> what;
  };
  using name = std::pair<kept_kind, std::string>;

  static task<kept_spills> open_spills(std::shared_ptr<blocking_pool> pool, std::string path, bool merged);
  static std::shared_ptr<kept_commands> open(const std::weak_ptr<kept_commands>& at);

  std::shared_ptr<kept_command> find(const name& wanted) const;
  std::string new_name(kept_kind kind);
  void add(kept_kind kind, const std::shared_ptr<kept_command>& one);
  void forget_ended();

  task_group pumps_;
  std::vector<entry> all_;
  std::map<name, std::shared_ptr<event>> starting_;  ///< keys, and what is notified when the start is over
  std::size_t named_ = 0;
  bool closed_ = false;
};

}  // namespace berth
