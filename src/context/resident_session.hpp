#pragma once
/// The owner's end of one resident: its frames, and the commands they belong to.

#include "context/resident_channel.hpp"
#include "context/resident_lease.hpp"
#include "core/event.hpp"
#include "core/logger.hpp"
#include "wire/messages.hpp"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace berth {

/// One command, as the session sees it.
class frame_sink {
 public:
  virtual ~frame_sink() = default;
  /// `fds` are those that came with the frame.
  virtual void on_frame(const wire::header& header, std::string_view payload, fd_batch fds) = 0;
  /// Nothing more will come.
  virtual void on_lost(const std::string& cause) = 0;
  /// Something may have changed that concerns all: an obstacle, or the answer to a question.
  virtual void on_news() {}
};

/// A frame that can be sent.
std::string make_frame(wire::frame_type type, std::uint32_t id, wire::stream stream = wire::stream::in,
                       std::string_view payload = {});
std::string make_number_frame(wire::frame_type type, std::uint32_t id, std::uint64_t number,
                              wire::stream stream = wire::stream::in);

/// State that a link's coroutines and the commands share. Nothing in it waits: it is told what was read, and sends.
class resident_session {
 public:
  using clock = std::chrono::steady_clock;

  resident_session(asio::any_io_executor executor, logger log);

  /// From now on cut connections are borne for so long; before the first connect().
  void use_lease(std::chrono::milliseconds lease);
  bool leased() const noexcept { return lease_.has_value(); }
  std::chrono::milliseconds lease_time() const noexcept { return lease_time_; }

  // -- one connection
  /// Says hello over the channel, closing the one before. `owner`, where there is one, is this process's pidfd.
  void connect(std::shared_ptr<resident_channel> channel, unique_fd owner);
  /// Where the next bytes are to be read to.
  std::span<char> space();
  fd_inbox& inbox() noexcept { return inbox_; }
  /// Handles what was read; false once the connection is of no use any more.
  bool received(std::size_t bytes);
  bool is_current(const std::shared_ptr<resident_channel>& channel) const noexcept { return channel == channel_; }
  const std::shared_ptr<resident_channel>& channel() const noexcept { return channel_; }
  /// The connection ended. What is sent from now on is kept for the next.
  void cut_off();
  bool is_cut() const noexcept { return cut_; }
  void close() noexcept;
  /// The welcome came on this connection.
  bool greeted() const noexcept { return greeted_; }
  /// Notified when `greeted`, `is_cut` or `lost` changes.
  event& changed() noexcept { return changed_; }
  const wire::welcome& resident() const noexcept { return welcome_; }

  // -- the end
  /// Every command is lost, and nothing can be sent any more. Only the first cause counts.
  void lose(const std::string& cause);
  /// The same, where the kernel ended the whole place for want of memory, and with it every command.
  void lose_to_memory(const std::string& cause);
  bool ran_out_of_memory() const noexcept { return ran_out_of_memory_; }
  bool lost() const noexcept { return lost_.has_value(); }
  const std::string& cause() const { return *lost_; }
  /// Why the resident, or the codec, ended the connection; may be empty.
  const std::string& complaint() const noexcept { return complaint_; }

  // -- commands
  std::uint32_t add(std::shared_ptr<frame_sink> sink);
  /// Late frames of the command are dropped, and their descriptors closed.
  void forget(std::uint32_t id);
  /// Something is due from the command: the watchdog watches.
  void set_busy(std::uint32_t id, bool busy);
  void send(std::string frame, std::vector<unique_fd> fds = {});
  /// One for all commands: what is read is copied out at once.
  std::span<char> read_buffer();
  /// Of the pipes that were made larger, how many there are now.
  int& large_pipes() noexcept { return large_pipes_; }
  std::size_t commands() const noexcept { return commands_.size(); }
  /// A command of this resident had a cgroup below `parent`: whoever sweeps looks there too.
  void use_cgroups(const std::string& parent) { cgroups_ = parent; }
  const std::string& cgroups() const noexcept { return cgroups_; }

  /// This process was forked off the one that made the session, and never executed. It shares the connection and the reactor's
  /// descriptor with that one, so nothing here may be sent or closed.
  bool is_copy() const noexcept { return owner_ != ::getpid(); }

  /// A question whose answer comes behind all that the resident has sent before. Answered once `answered()` is not below.
  std::uint64_t ask();
  std::uint64_t answered() const noexcept { return answered_; }

  // -- what keeps the resident from answering, while it lasts: then nobody waits for a kill to be confirmed
  /// Empty: nothing any more.
  void obstruct(const std::string& why);
  const std::string& obstacle() const noexcept { return obstacle_; }

  // -- for the watchdog
  bool busy() const noexcept { return busy_count_ > 0; }
  event& became_busy() noexcept { return became_busy_; }
  clock::time_point last_heard() const noexcept { return last_heard_; }

  const asio::any_io_executor& executor() const noexcept { return executor_; }
  const logger& log() const noexcept { return log_; }

 private:
  struct entry {
    std::shared_ptr<frame_sink> sink;
    bool busy = false;
  };

  bool find_token();
  bool handle(const wire::header& header, std::string_view payload);
  bool welcome(std::string_view payload);
  bool control(const wire::header& header, std::string_view payload);
  void dispatch(const wire::header& header, std::string_view payload, fd_batch fds);
  bool take_batch(const wire::header& header, fd_batch& into);
  bool broken(std::string why);
  void tell_news();
  void send_ack();

  asio::any_io_executor executor_;
  logger log_;
  pid_t owner_ = ::getpid();
  std::shared_ptr<resident_channel> channel_;
  fd_inbox inbox_;
  std::vector<char> input_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool greeted_ = false;
  bool cut_ = false;
  std::uint32_t attempt_ = 0;  ///< connections so far; a welcome to an earlier one is none
  bool found_ = true;          ///< no token is awaited
  wire::welcome welcome_;
  std::optional<std::string> lost_;
  std::string complaint_;
  std::string obstacle_;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
  bool ran_out_of_memory_ = false;
  event changed_;

  std::optional<resident_lease> lease_;
  std::chrono::milliseconds lease_time_{0};

  std::unordered_map<std::uint32_t, entry> commands_;
  std::uint32_t last_id_ = 0;
  int busy_count_ = 0;
  event became_busy_;
  clock::time_point last_heard_ = clock::now();
  std::unique_ptr<char[]> buffer_;
  int large_pipes_ = 0;
  std::string cgroups_;
};

}  // namespace berth
