#pragma once
/// Keeps the connection to the resident of a container, and finds out what is wrong when it says nothing.

#include "berth/task.hpp"
#include "core/logger.hpp"
#include "docker/container_launch.hpp"

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace berth {

/// For one container, as long as its resident is not lost. Its tasks belong to a group that ends with the place.
class place_keeper {
 public:
  place_keeper(asio::any_io_executor executor, std::shared_ptr<launched_container> launched, logger log);

  /// Attaches again whenever the connection is cut; for a link that has a lease. Whether the connection or the container has ended
  /// cannot be seen from the stream: the daemon is asked.
  static task<void> keep_attached(std::shared_ptr<place_keeper> self);
  /// Asks the resident whether it lives while something is due from it, and the daemon why it does not answer. Under a lease also lets
  /// it hear that we live.
  static task<void> watch(std::shared_ptr<place_keeper> self);

 private:
  using clock = std::chrono::steady_clock;

  static task<bool> attach_again(std::shared_ptr<place_keeper> self);
  static task<void> wait_for_work(std::shared_ptr<place_keeper> self);
  static task<void> find_out(std::shared_ptr<place_keeper> self, clock::duration silent);
  static task<void> lose(std::shared_ptr<place_keeper> self);

  resident_session& session() const noexcept { return *launched_->link->session(); }
  void obstruct(const std::string& why);
  void ping();

  asio::any_io_executor executor_;
  std::shared_ptr<launched_container> launched_;
  logger log_;
};

}  // namespace berth
