#include "docker/docker_place.hpp"

#include "berth/error.hpp"
#include "docker/place_keeper.hpp"

#include <utility>

namespace berth {
struct docker_place::state {
  state(asio::any_io_executor e, std::shared_ptr<launched_container> l, logger g)
      : executor(std::move(e)), launched(std::move(l)), log(std::move(g)) {}

  resident_link& link() const noexcept { return *launched->link; }

  asio::any_io_executor executor;
  std::shared_ptr<launched_container> launched;
  logger log;
  std::shared_ptr<const std::vector<std::string>> changes = std::make_shared<const std::vector<std::string>>();
  bool destroyed = false;
};

docker_place::docker_place(asio::any_io_executor executor, std::shared_ptr<launched_container> launched, logger log)
    : state_(std::make_shared<state>(executor, std::move(launched), std::move(log))),
      group_(std::make_shared<task_group>(executor)),
      files_(starter_of(state_)) {
  const auto keeper = std::make_shared<place_keeper>(executor, state_->launched, state_->log);
  group_->spawn(place_keeper::watch(keeper));
  if (state_->launched->transport == resident_transport::framed) group_->spawn(place_keeper::keep_attached(keeper));
}

docker_place::~docker_place() {
  state_->destroyed = true;
  state_->link().end_blocking();
}

command_starter docker_place::starter_of(std::shared_ptr<state> self) {
  return [self](command what) {
    if (self->destroyed) throw error(make_error_code(errc::destroyed), "docker context");
    const auto transport = what.is_background() ? resident_transport::framed : self->launched->transport;
    return start_on_resident(self->link().session(), std::move(what), self->changes, transport);
  };
}

task<std::unique_ptr<backend_process>> docker_place::start(command what) { return starter_of(state_)(std::move(what)); }

task<void> docker_place::destroy_all(std::shared_ptr<state> self, std::shared_ptr<task_group> group) {
  self->destroyed = true;
  co_await self->link().end();
  group->cancel();
  co_await self->launched->box.remove();
  co_await group->join();
}

task<void> docker_place::destroy() { return destroy_all(state_, group_); }

}  // namespace berth
