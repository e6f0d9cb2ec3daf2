#include "docker/engine_place.hpp"

#include "berth/error.hpp"

#include <utility>

namespace berth {

capabilities engine_capabilities() noexcept {
  capabilities some;
  some.separate_stderr = true;
  some.stdin_stream = true;
  some.terminals = true;
  some.files = true;
  return some;
}

std::string engine_warning(const std::string& where, const std::string& why_not) {
  return "docker: in " + where + " the Engine itself runs commands, and cannot end, signal or limit them, since no " +
         "resident can live there: " + why_not;
}

struct engine_place::state {
  state(asio::any_io_executor e, container b, std::string u, std::vector<std::string> v, http::stream_ptr k)
      : executor(std::move(e)), box(std::move(b)), user(std::move(u)), env(std::move(v)), keeper(std::move(k)) {}

  void tell_end() {
    destroyed = true;
    const engine_listeners all = std::exchange(*listeners, {});
    for (const auto& each : all) {
      if (const auto one = each.lock()) one->on_gone();
    }
  }

  asio::any_io_executor executor;
  container box;
  std::string user;
  std::vector<std::string> env;
  http::stream_ptr keeper;
  std::shared_ptr<engine_listeners> listeners = std::make_shared<engine_listeners>();
  bool destroyed = false;
};

engine_place::engine_place(asio::any_io_executor executor, engine_files_place where, std::vector<std::string> env,
                           http::stream_ptr keeper)
    : state_(std::make_shared<state>(executor, where.box, where.user, std::move(env), std::move(keeper))),
      group_(std::make_shared<task_group>(executor)),
      files_(std::move(where)) {}

engine_place::~engine_place() {
  state_->tell_end();
  if (state_->keeper) state_->keeper->close();
}

task<std::unique_ptr<backend_process>> engine_place::start(command what) {
  if (state_->destroyed) throw error(make_error_code(errc::destroyed), "docker context");
  engine_start where{state_->box, state_->user, state_->env, group_, state_->listeners};
  return start_by_engine(state_->executor, std::move(where), std::move(what));
}

task<void> engine_place::destroy_all(std::shared_ptr<state> self, std::shared_ptr<task_group> group) {
  self->tell_end();
  group->cancel();
  if (self->keeper) {
    self->keeper->close();
    co_await self->box.remove();
  }
  co_await group->join();
}

task<void> engine_place::destroy() { return destroy_all(state_, group_); }

}  // namespace berth
