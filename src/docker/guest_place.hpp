#pragma once
/// A resident that is a guest in somebody else's container, as a place.

#include "berth/backend.hpp"
#include "context/resident_files.hpp"
#include "core/logger.hpp"
#include "core/task_group.hpp"
#include "docker/guest_launch.hpp"

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <memory>

namespace berth {

/// Its end is that of its commands; the container stays.
class guest_place final : public backend_place {
 public:
  guest_place(asio::any_io_executor executor, std::shared_ptr<launched_guest> guest, std::chrono::milliseconds lease,
              logger log);
  ~guest_place() override;

  task<std::unique_ptr<backend_process>> start(command what) override;
  task<void> destroy() override;
  backend_files* files() noexcept override { return &files_; }

 private:
  struct state;
  static command_starter starter_of(std::shared_ptr<state> self);
  static task<void> wait_for_end(std::shared_ptr<state> self);
  static task<void> destroy_all(std::shared_ptr<state> self, std::shared_ptr<task_group> group);

  std::shared_ptr<state> state_;
  std::shared_ptr<task_group> group_;
  resident_files files_;
};

}  // namespace berth
