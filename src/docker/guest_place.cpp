#include "docker/guest_place.hpp"

#include "berth/error.hpp"
#include "context/resident_process.hpp"
#include "core/deadline.hpp"

#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr auto end_takes = 10s;  // it ends everything, which may be much
constexpr std::chrono::milliseconds first_pause{5};
constexpr std::chrono::milliseconds longest_pause{200};

}  // namespace

struct guest_place::state {
  state(asio::any_io_executor e, std::shared_ptr<launched_guest> g, logger l)
      : executor(std::move(e)), guest(std::move(g)), log(std::move(l)) {}

  asio::any_io_executor executor;
  std::shared_ptr<launched_guest> guest;
  logger log;
  std::shared_ptr<const std::vector<std::string>> changes = std::make_shared<const std::vector<std::string>>();
  bool destroyed = false;
};

guest_place::guest_place(asio::any_io_executor executor, std::shared_ptr<launched_guest> guest,
                         std::chrono::milliseconds lease, logger log)
    : state_(std::make_shared<state>(executor, guest, std::move(log))),
      group_(std::make_shared<task_group>(executor)),
      files_(starter_of(state_)) {
  group_->spawn(keep_heard(executor, std::move(guest), lease));
}

guest_place::~guest_place() {
  state_->destroyed = true;
  state_->guest->link->end_blocking();
}

command_starter guest_place::starter_of(std::shared_ptr<state> self) {
  return [self](command what) {
    if (self->destroyed) throw error(make_error_code(errc::destroyed), "docker context");
    return start_on_resident(self->guest->link->session(), std::move(what), self->changes, resident_transport::framed);
  };
}

task<std::unique_ptr<backend_process>> guest_place::start(command what) { return starter_of(state_)(std::move(what)); }

/// The end of its stream has told the resident; it exits when nothing is left.
task<void> guest_place::wait_for_end(std::shared_ptr<state> self) {
  asio::steady_timer timer(self->executor);
  auto pause = first_pause;
  for (;;) {
    const std::optional<exec_state> now = co_await self->guest->program.state();
    if (!now || !now->running) co_return;
    timer.expires_after(pause);
    co_await timer.async_wait(asio::use_awaitable);
    pause = std::min(pause * 2, longest_pause);
  }
}

task<void> guest_place::destroy_all(std::shared_ptr<state> self, std::shared_ptr<task_group> group) {
  self->destroyed = true;
  co_await self->guest->link->end();
  group->cancel();
  try {
    auto waiting = wait_for_end(self);
    co_await with_deadline(std::move(waiting), end_takes);
  } catch (const error& failure) {
    if (is_cancelled(failure.code())) throw;
    self->log.warning("docker: the end of the resident in the container was not seen: " + std::string(failure.what()));
  }
  co_await group->join();
}

task<void> guest_place::destroy() { return destroy_all(state_, group_); }

}  // namespace berth
