#pragma once
/// A way to the daemon that can be made bad while a test runs.

#include <berth/task.hpp>

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace berth::test {

/// What happens to bytes from now on, on connections that carry attached streams (and on all, where `everywhere`).
struct link_faults {
  std::optional<std::size_t> cut_down =
      {};  ///< so many bytes from the daemon still come, then that connection ends; once
  std::optional<std::size_t> cut_up = {};  ///< the same for bytes to the daemon
  bool reset = false;                      ///< what is cut ends with a reset
  std::size_t piece = 0;                   ///< bytes written at once; 0: as they came
  std::chrono::milliseconds delay{0};      ///< before each piece
  bool swallow = false;                    ///< bytes go nowhere, in both directions
  bool refuse = false;                     ///< new connections are closed at once
  bool everywhere = false;
};

enum class link_kind { tcp, unix_socket };

/// Between a client and the daemon's socket.
class bad_link {
 public:
  bad_link(asio::io_context& io, link_kind kind, std::string daemon_url);
  ~bad_link();
  bad_link(const bad_link&) = delete;
  bad_link& operator=(const bad_link&) = delete;

  const std::string& url() const noexcept;
  link_faults& faults() noexcept;
  /// Connections that carried attached streams so far.
  int attached() const noexcept;
  /// Those that are open end at once.
  void cut_all();

 private:
  struct state;
  struct connection;
  static task<void> accept_all(std::shared_ptr<state> self);
  static task<void> carry(std::shared_ptr<state> self, std::shared_ptr<connection> one, bool down);

  std::shared_ptr<state> state_;
};

}  // namespace berth::test
