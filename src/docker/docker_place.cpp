#include "docker/docker_place.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"

#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr auto answer_takes = 10s;
constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::milliseconds longest_pause{2000};

std::string describe(const std::optional<container_state>& state) {
  if (!state) return "the container was removed";
  if (state->oom_killed) return "the container was ended for want of memory";
  if (state->paused) return "the container is paused";
  if (!state->running) return "the container ended with " + std::to_string(state->exit_code);
  return {};
}

}  // namespace

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
  if (state_->launched->transport == resident_transport::framed) group_->spawn(keep_attached(state_));
}

docker_place::~docker_place() {
  state_->destroyed = true;
  state_->link().end_blocking();
}

const container& docker_place::box() const noexcept { return state_->launched->box; }

/// Whether the connection or the container has ended cannot be seen from the stream: the daemon is asked.
task<void> docker_place::keep_attached(std::shared_ptr<state> self) {
  for (;;) {
    co_await self->link().detached();
    auto pause = first_pause;
    while (!self->link().lost() && !self->destroyed) {
      const bool attached = co_await attach_again(self);
      if (attached) break;
      asio::steady_timer timer(self->executor, pause);
      co_await timer.async_wait(asio::use_awaitable);
      pause = std::min(pause * 2, longest_pause);
    }
    if (self->link().lost() || self->destroyed) co_return;
  }
}

task<bool> docker_place::attach_again(std::shared_ptr<state> self) {
  try {
    auto asking = self->launched->box.state();
    auto bounded = with_deadline(std::move(asking), answer_takes);
    const std::optional<container_state> now = co_await std::move(bounded);
    if (!now || (!now->running && !now->paused)) {
      self->link().session()->lose("lost: " + describe(now));
      co_return false;
    }
    auto attaching = attach_resident(self->executor, self->launched, self->log);
    auto in_time = with_deadline(std::move(attaching), answer_takes);
    co_await std::move(in_time);
    co_return true;
  } catch (const error& failure) {
    if (is_cancelled(failure.code())) throw;
    self->log.info("docker: attaching again: " + std::string(failure.what()));
  }
  co_return false;
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
