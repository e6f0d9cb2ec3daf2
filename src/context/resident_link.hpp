#pragma once
/// The owner's work for one resident: reading its frames, watching that it lives, and ending it.

#include "context/resident_session.hpp"
#include "core/blocking.hpp"
#include "core/task_group.hpp"
#include "os/helper_process.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace berth {

/// What became of a place whose resident is gone.
struct resident_end {
  std::string cause = {};  ///< as a status' message; empty: not known
  bool out_of_memory = false;
};

struct resident_link_options {
  /// The resident, where it is a child of this process on this host: then it is watched, and swept after.
  std::optional<helper_process> resident = {};
  /// For the sweep; needed with a resident of ours.
  std::shared_ptr<blocking_pool> pool = {};
  /// How long a cut connection is borne. Default: the end of the stream is the end of the resident.
  std::optional<std::chrono::milliseconds> lease = {};
  /// How long a resident may take to say welcome.
  std::chrono::milliseconds hello_timeout{5000};
  /// Asked once the connection has ended for good, before processes are told. Must bound its time.
  std::function<task<resident_end>()> explain = {};
  logger log = {};
};

/// Owns the coroutines of one resident. Commands are started over its session (see resident_process.hpp).
///
/// Life: destroying it closes the connection, and ends a resident of ours as end_blocking() does. The session may live on in
///       processes; it is lost then.
class resident_link {
 public:
  resident_link(asio::any_io_executor executor, resident_link_options options);
  ~resident_link();
  resident_link(const resident_link&) = delete;
  resident_link& operator=(const resident_link&) = delete;

  /// Says hello over the channel and returns once the welcome came. Under a lease also for each further connection: what was
  /// under way goes on there.
  /// Errors: timeout, lost; under a lease another try is worth while until lost() says otherwise.
  task<void> attach(std::shared_ptr<resident_channel> channel);
  /// Waits until the connection is cut (under a lease) or the resident lost.
  task<void> detached();

  const std::shared_ptr<resident_session>& session() const noexcept;
  bool lost() const noexcept;
  /// None of its coroutines runs: a lost one has been swept.
  bool idle() const noexcept;

  /// Asks the resident to end everything and itself, and waits for that; after 5 s KILL and a sweep. Processes are lost.
  task<void> end();
  /// The hard way, without an io_context: closes the connection, at which the resident ends everything; after 2 s KILL and a
  /// sweep.
  void end_blocking() noexcept;

 private:
  struct state;
  static task<void> attach_to(std::shared_ptr<state> self, std::shared_ptr<resident_channel> channel);
  static task<void> wait_detached(std::shared_ptr<state> self);
  static task<void> pump(std::shared_ptr<state> self, std::shared_ptr<resident_channel> channel);
  static task<void> read_all(std::shared_ptr<state> self, std::shared_ptr<resident_channel> channel);
  static task<void> await_attach(std::shared_ptr<state> self, std::shared_ptr<resident_channel> channel);
  static task<resident_end> find_cause(std::shared_ptr<state> self);
  static task<void> report_loss(std::shared_ptr<state> self);
  static task<void> follow_exit(std::shared_ptr<state> self);
  static task<void> watch(std::shared_ptr<state> self);
  static task<bool> exited_within(std::shared_ptr<state> self, std::chrono::milliseconds time);
  static task<void> sweep(std::shared_ptr<state> self);
  static task<void> end_resident(std::shared_ptr<state> self);

  std::shared_ptr<state> state_;
  // Not in the state, which its coroutines hold.
  std::shared_ptr<task_group> group_;
};

}  // namespace berth
