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

/// What is left where the Engine runs commands.
capabilities engine_capabilities() noexcept;

/// The same in words, for the log.
std::string engine_warning(const std::string& where, const std::string& why_not);

/// One of ours goes with it, and with that all that runs there: its input is `keeper`. One of others stays, and so do commands that have
/// not ended.
class engine_place final : public backend_place {
 public:
  /// `keeper`: null for a container of others.
  engine_place(asio::any_io_executor executor, engine_files_place where, std::vector<std::string> env,
               http::stream_ptr keeper = nullptr);
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
