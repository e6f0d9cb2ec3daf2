#pragma once
/// One place on this host, and the resident that lives in it.

#include "berth/backend.hpp"
#include "context/resident_process.hpp"
#include "core/blocking.hpp"
#include "core/logger.hpp"
#include "host/host_files.hpp"
#include "host/isolation_site.hpp"

#include <asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace berth {

class resident_link;

/// Where cgroups can be made: looked for when the first command needs it.
struct found_cgroups {
  std::shared_ptr<const cgroup_place> place = {};
};

struct host_place_options {
  /// What the resident is started with, also a second one, and what commands inherit: of the caller's environment as it was.
  std::vector<std::string> env = {};
  /// On top of it, for every command: "NAME=VALUE" sets, "NAME" removes.
  std::vector<std::string> changes = {};
  resident_transport transport = resident_transport::handed;
  std::shared_ptr<blocking_pool> pool = {};
  /// Shared by the places of a context.
  std::shared_ptr<found_cgroups> cgroups = std::make_shared<found_cgroups>();
  /// With it the resident, and so every command, is inside a sandbox.
  std::shared_ptr<isolation_site> isolation = {};
  logger log = {};
};

class host_place final : public backend_place {
 public:
  host_place(asio::any_io_executor executor, host_place_options options);
  ~host_place() override;

  /// Starts the resident now, so that it is known whether it can be. That no sandbox can be made is no error yet.
  task<void> open();
  /// What changes for commands from now on, in place of host_place_options::changes.
  void set_changes(std::vector<std::string> changes);
  task<std::unique_ptr<backend_process>> start(command what) override;
  task<void> destroy() override;
  backend_files* files() noexcept override { return &files_; }

 private:
  struct state;
  static task<std::shared_ptr<resident_session>> session_of(std::shared_ptr<state> self);
  static task<void> launch(std::shared_ptr<state> self);
  static task<void> launch_in_sandbox(std::shared_ptr<state> self);
  static task<std::shared_ptr<prepared_sandbox>> prepare_next(std::shared_ptr<state> self);
  static task<void> enter_sandbox(std::shared_ptr<state> self, std::shared_ptr<prepared_sandbox> sandbox);
  static task<std::shared_ptr<prepared_sandbox>> prepare(std::shared_ptr<state> self);
  static task<void> look(std::shared_ptr<state> self);
  static task<void> end_former(std::shared_ptr<state> self, std::size_t kept);
  static std::shared_ptr<resident_link> make_link(state& self, helper_process resident);
  static task<void> find_cgroups(std::shared_ptr<state> self);
  static task<void> open_in(std::shared_ptr<state> self);
  static task<std::unique_ptr<backend_process>> start_in(std::shared_ptr<state> self, command what);
  static task<void> destroy_all(std::shared_ptr<state> self);

  std::shared_ptr<state> state_;
  host_files files_;
};

}  // namespace berth
