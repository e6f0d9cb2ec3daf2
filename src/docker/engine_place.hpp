#pragma once
/// A container in which no resident lives, as a place: the Engine runs its commands.

#include "berth/backend.hpp"
#include "core/logger.hpp"
#include "core/task_group.hpp"
#include "docker/engine_files.hpp"
#include "docker/engine_process.hpp"

#include <asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace berth {

enum class container_owner { us, others };

/// What is left where the Engine runs commands.
capabilities engine_capabilities() noexcept;

/// A container of ours goes with it, and with that all that runs there. One of others stays, and so do commands that have not ended.
class engine_place final : public backend_place {
 public:
  engine_place(asio::any_io_executor executor, engine_files_place where, container_owner owner,
               std::vector<std::string> env);
  ~engine_place() override;

  task<std::unique_ptr<backend_process>> start(command what) override;
  task<void> destroy() override;
  backend_files* files() noexcept override { return &files_; }

 private:
  struct state;
  static task<void> destroy_all(std::shared_ptr<state> self, std::shared_ptr<task_group> group);

  std::shared_ptr<state> state_;
  std::shared_ptr<task_group> group_;
  engine_files files_;
};

}  // namespace berth
