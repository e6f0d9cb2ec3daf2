#include "docker/place_keeper.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"
#include "docker/container_end.hpp"
#include "docker/container_story.hpp"

#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr auto daemon_takes = 3s;
constexpr auto attach_takes = 10s;
constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::milliseconds longest_pause{2000};
constexpr std::chrono::milliseconds look_every{1000};
/// Without a word of the resident though one is due: the daemon is asked,
constexpr std::chrono::milliseconds silence_to_ask{2000};
/// and a connection whose container runs is given up for a new one.
constexpr std::chrono::milliseconds silence_to_attach{6000};
/// So many times in a lease the resident hears of us, however little there is to say.
constexpr int words_in_lease = 4;

constexpr const char* is_paused = "the container is paused";
constexpr const char* is_cut_off = "there is no connection to the container";

}  // namespace

place_keeper::place_keeper(asio::any_io_executor executor, std::shared_ptr<launched_container> launched, logger log)
    : executor_(std::move(executor)), launched_(std::move(launched)), log_(std::move(log)) {}

void place_keeper::obstruct(const std::string& why) {
  const std::string before = session().obstacle();
  if (before == why) return;
  session().obstruct(why);
  if (why.empty()) {
    log_.info("docker: the container answers again");
  } else {
    log_.warning("docker: " + why + "; its commands wait");
  }
}

void place_keeper::ping() { session().send(make_number_frame(wire::frame_type::ping, 0, 0)); }

task<void> place_keeper::lose(std::shared_ptr<place_keeper> self) {
  auto asking = explain_end(self->launched_->box);
  const resident_end end = co_await std::move(asking);
  std::string cause = end.cause.empty() ? "lost: the container ended" : end.cause;
  // The events of a daemon go with it.
  if (cause == container_was_removed && self->session().obstacle() == is_cut_off)
    cause = "lost: the container ended while there was no connection to its daemon";
  if (self->session().lost()) co_return;
  self->log_.error("docker: " + cause);
  if (end.out_of_memory) {
    self->session().lose_to_memory(cause);
  } else {
    self->session().lose(cause);
  }
}

// ---- the connection --------------------------------------------------------------------------------------------------

task<void> place_keeper::keep_attached(std::shared_ptr<place_keeper> self) {
  resident_link& link = *self->launched_->link;
  asio::steady_timer timer(self->executor_);
  while (!link.lost()) {
    co_await link.detached();
    auto pause = first_pause;
    while (!link.lost()) {
      const bool attached = co_await attach_again(self);
      if (attached) break;
      timer.expires_after(pause);
      co_await timer.async_wait(asio::use_awaitable);
      pause = std::min(pause * 2, longest_pause);
    }
  }
}

task<bool> place_keeper::attach_again(std::shared_ptr<place_keeper> self) {
  try {
    auto asking = self->launched_->box.state();
    auto bounded = with_deadline(std::move(asking), daemon_takes);
    const std::optional<container_state> now = co_await std::move(bounded);
    if (!now || !now->running) {
      co_await lose(self);
      co_return false;
    }
    if (now->paused) {
      self->obstruct(is_paused);
      co_return false;
    }
    auto attaching = attach_resident(self->executor_, self->launched_, self->log_);
    auto in_time = with_deadline(std::move(attaching), attach_takes);
    co_await std::move(in_time);
    self->obstruct("");
    co_return true;
  } catch (const error& failure) {
    if (is_cancelled(failure.code())) throw;
    self->log_.info("docker: attaching again: " + std::string(failure.what()));
    if (!self->session().lost()) self->obstruct(is_cut_off);
  }
  co_return false;
}

// ---- silence ---------------------------------------------------------------------------------------------------------

task<void> place_keeper::wait_for_work(std::shared_ptr<place_keeper> self) {
  resident_session& session = self->session();
  while (!session.busy() && !session.lost()) {
    if (!session.leased()) {
      co_await session.became_busy().wait();
      continue;
    }
    const auto time = std::max<clock::duration>(session.lease_time() / words_in_lease, 100ms);
    const bool busy = co_await session.became_busy().wait_for(time);
    if (!busy && !session.is_cut()) self->ping();
  }
}

task<void> place_keeper::watch(std::shared_ptr<place_keeper> self) {
  resident_session& session = self->session();
  const auto period = session.leased() ? std::min(look_every, session.lease_time() / words_in_lease) : look_every;
  asio::steady_timer timer(self->executor_);
  auto since = clock::now();  // silence counts from here
  while (!session.lost()) {
    if (!session.busy()) {
      co_await wait_for_work(self);
      since = clock::now();
    }
    timer.expires_after(period);
    co_await timer.async_wait(asio::use_awaitable);
    if (session.lost() || session.is_cut()) continue;  // then it is the daemon's turn
    const auto heard = std::max(since, session.last_heard());
    const auto silent = clock::now() - heard;
    if (silent < period) {
      self->obstruct("");
      continue;
    }
    self->ping();
    if (silent >= silence_to_ask) co_await find_out(self, silent);
  }
}

task<void> place_keeper::find_out(std::shared_ptr<place_keeper> self, clock::duration silent) {
  resident_session& session = self->session();
  const auto asked = clock::now();
  std::string why;
  try {
    auto asking = self->launched_->box.state();
    auto bounded = with_deadline(std::move(asking), daemon_takes);
    const std::optional<container_state> now = co_await std::move(bounded);
    // Without a lease the end of the connection tells it.
    if ((!now || !now->running) && session.leased() && !session.is_cut()) co_return co_await lose(self);
    if (now && now->paused) why = is_paused;
  } catch (const error& failure) {
    if (is_cancelled(failure.code())) throw;
    if (!session.leased()) co_return;  // the resident needs no daemon, and is slow
    why = is_cut_off;
  }
  // What came while this program was held up has been read by now.
  if (session.lost() || session.is_cut() || session.last_heard() >= asked) co_return;
  self->obstruct(why);
  if (session.leased() && why != is_paused && silent >= silence_to_attach) session.close();
}

}  // namespace berth
