#pragma once
/// One container as a place.

#include "berth/backend.hpp"
#include "context/resident_files.hpp"
#include "core/logger.hpp"
#include "core/task_group.hpp"
#include "docker/container_launch.hpp"

#include <asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace berth {

class docker_place final : public backend_place {
 public:
  docker_place(asio::any_io_executor executor, std::shared_ptr<launched_container> launched, logger log);
  ~docker_place() override;

  task<std::unique_ptr<backend_process>> start(command what) override;
  task<void> destroy() override;
  backend_files* files() noexcept override { return &files_; }

 private:
  struct state;
  static command_starter starter_of(std::shared_ptr<state> self);
  static task<void> destroy_all(std::shared_ptr<state> self, std::shared_ptr<task_group> group);

  std::shared_ptr<state> state_;
  std::shared_ptr<task_group> group_;
  resident_files files_;
};

}  // namespace berth
