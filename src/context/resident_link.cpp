#include "context/resident_link.hpp"

#include "berth/error.hpp"
#include "context/resident_watchdog.hpp"
#include "core/compat.hpp"
#include "core/deadline.hpp"
#include "os/cgroup_place.hpp"
#include "os/pidfd.hpp"
#include "os/tag_sweep.hpp"

#include <asio/error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace berth {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto sweep_limit = 2000ms;
constexpr auto bye_limit = 5000ms;  // it ends everything, which may be much
constexpr auto destructor_limit = 2000ms;
constexpr std::chrono::milliseconds exit_after_end(1000);  // from the end of its stream to its exit
constexpr std::chrono::milliseconds end_after_exit(
    100);  // from its exit to the end of its stream, while its last frames are read

/// What a resident that is no more has left: processes, and cgroups.
struct remains {
  explicit remains(const resident_session& session)
      : pid(session.resident().pid), nonce(session.resident().nonce), cgroups(session.cgroups()) {}

  std::vector<swept_process> operator()() const {
    if (!cgroups.empty()) sweep_cgroups(cgroups, cgroup_prefix(pid, nonce), sweep_limit);
    return sweep_tagged(nonce, sweep_limit);
  }

  std::uint32_t pid;
  std::uint32_t nonce;
  std::string cgroups;
};

}  // namespace

struct resident_link::state {
  state(asio::any_io_executor executor, resident_link_options o)
      : options(std::move(o)), session(std::make_shared<resident_session>(executor, options.log)), cut(executor) {
    if (options.lease) session->use_lease(*options.lease);
  }

  bool owns_resident() const { return options.resident && options.resident->is_ours(); }

  // It exited in order, which it does when nothing is left.
  bool ended_well() const { return options.resident->status() == 0; }

  std::string cause() const {
    std::string why = session->complaint();
    const auto status = options.resident ? options.resident->status() : std::nullopt;
    if (why.empty() && status) why = "the resident " + describe_wait_status(*status);
    if (why.empty()) why = "the resident closed the connection";
    return "lost: " + why;
  }

  void log_survivors(const std::vector<swept_process>& survivors) const {
    for (const swept_process& each : survivors) {
      options.log.warning(fmt::format("resident: process {} ({}) could not be ended", each.pid, each.name));
    }
  }

  resident_link_options options;
  std::shared_ptr<resident_session> session;
  std::weak_ptr<task_group> group;
  event cut;
  bool ending = false;
  bool swept = false;
  bool followed = false;
};

resident_link::resident_link(asio::any_io_executor executor, resident_link_options options)
    : state_(std::make_shared<state>(executor, std::move(options))), group_(std::make_shared<task_group>(executor)) {
  state_->group = group_;
}

resident_link::~resident_link() {
  end_blocking();
  if (state_->session->is_copy()) {  // kept for the rest of the copy's life
    new std::shared_ptr<state>(state_);
    new std::shared_ptr<task_group>(group_);
  }
}

const std::shared_ptr<resident_session>& resident_link::session() const noexcept { return state_->session; }

bool resident_link::lost() const noexcept { return state_->session->lost(); }

task<void> resident_link::attach(std::shared_ptr<resident_channel> channel) {
  return attach_to(state_, std::move(channel));
}

task<void> resident_link::detached() { return wait_detached(state_); }

task<void> resident_link::end() { return end_resident(state_); }

task<void> resident_link::attach_to(std::shared_ptr<state> self, std::shared_ptr<resident_channel> channel) {
  auto& session = *self->session;
  const auto group = self->group.lock();
  if (session.lost() || !group) throw error(make_error_code(errc::lost), session.lost() ? session.cause() : "resident");
  unique_fd owner;
  if (channel->passes_fds()) owner = open_pidfd(::getpid());
  session.connect(channel, std::move(owner));
  group->spawn(pump(self, channel));
  if (self->owns_resident() && !std::exchange(self->followed, true)) {
    group->spawn(follow_exit(self));
    group->spawn(watch(self));
  }
  const auto deadline = clock::now() + self->options.hello_timeout;
  while (!session.greeted() && !session.lost() && session.is_current(channel) && !session.is_cut()) {
    const bool notified = co_await session.changed().wait_until(deadline);
    if (notified) continue;
    if (!session.leased()) session.lose("lost: the resident said nothing");
    channel->close();
    throw error(make_error_code(errc::timeout), "the resident did not answer");
  }
  if (!session.greeted())
    throw error(make_error_code(errc::lost),
                session.lost() ? session.cause() : "the connection ended before the resident answered");
}

task<void> resident_link::wait_detached(std::shared_ptr<state> self) {
  while (self->session->greeted()) co_await self->cut.wait();
}

// ---- reading --------------------------------------------------------------------------------------------------------

task<void> resident_link::read_all(std::shared_ptr<state> self, std::shared_ptr<resident_channel> channel) {
  auto& session = *self->session;
  while (session.is_current(channel)) {
    const auto space = session.space();
    const std::size_t n = co_await channel->read(space, session.inbox());
    if (n == 0 || !session.is_current(channel) || !session.received(n)) co_return;
  }
}

task<void> resident_link::pump(std::shared_ptr<state> self, std::shared_ptr<resident_channel> channel) {
  bool cancelled = false;
  try {
    co_await read_all(self, channel);
  } catch (const std::system_error& caught) {
    cancelled = is_cancelled(caught.code());
    if (!cancelled) self->options.log.warning(fmt::format("resident: {}", caught.what()));
  }
  channel->close();
  if (cancelled || self->ending || !self->session->is_current(channel)) co_return;
  // What breaks the protocol would do so again on the next connection.
  if (self->session->leased() && self->session->complaint().empty()) {
    co_await await_attach(self, channel);
  } else {
    co_await report_loss(self);
  }
}

// A connection under a lease was cut: somebody attaches another one in time, or the resident has ended itself.
task<void> resident_link::await_attach(std::shared_ptr<state> self, std::shared_ptr<resident_channel> channel) {
  auto& session = *self->session;
  session.cut_off();
  self->cut.notify();
  asio::steady_timer timer(session.executor(), session.last_heard() + session.lease_time());
  co_await timer.async_wait(asio::use_awaitable);
  if (session.is_current(channel)) session.lose("lost: no connection to the resident within its lease");
}

task<resident_end> resident_link::find_cause(std::shared_ptr<state> self) {
  resident_end found;
  if (self->options.explain && self->session->complaint().empty()) {
    try {
      auto asking = self->options.explain();
      found = co_await std::move(asking);
    } catch (const std::system_error& caught) {
      if (is_cancelled(caught.code())) throw;
    }
  }
  if (found.cause.empty()) found.cause = self->cause();
  co_return found;
}

task<void> resident_link::report_loss(std::shared_ptr<state> self) {
  if (self->owns_resident()) {
    const bool exited = co_await exited_within(self, exit_after_end);
    if (!exited) {
      self->options.resident->kill(SIGKILL);
      (void)co_await exited_within(self, exit_after_end);
    }
  }
  const resident_end end = co_await find_cause(self);
  if (self->ending) co_return;
  self->options.log.error("resident: " + end.cause);
  self->session->lose(end.cause);
  self->cut.notify();
  co_await sweep(self);
}

// ---- a resident of ours -----------------------------------------------------------------------------------------------

task<bool> resident_link::exited_within(std::shared_ptr<state> self, std::chrono::milliseconds time) {
  auto wait = self->options.resident->wait();
  try {
    (void)co_await with_deadline(std::move(wait), time);
  } catch (const std::system_error& caught) {
    if (is_cancelled(caught.code())) throw;
  }
  co_return self->options.resident->status().has_value();
}

// Its end is noticed even if something still holds its side of the connection open.
task<void> resident_link::follow_exit(std::shared_ptr<state> self) {
  asio::steady_timer timer(self->session->executor());
  for (;;) {
    auto wait = self->options.resident->wait();
    try {
      (void)co_await std::move(wait);
    } catch (const std::system_error& caught) {
      if (is_cancelled(caught.code())) throw;  // else there was no descriptor to wait with
    }
    const bool exited = self->options.resident->status().has_value();
    timer.expires_after(exited ? end_after_exit : exit_after_end);
    co_await timer.async_wait(asio::use_awaitable);
    if (exited) break;
  }
  self->session->close();
}

task<void> resident_link::watch(std::shared_ptr<state> self) {
  using action = resident_watchdog::action;
  auto& session = *self->session;
  const helper_process& resident = *self->options.resident;
  resident_watchdog dog;
  asio::steady_timer timer(session.executor());
  while (!session.lost() && !self->ending) {
    if (!session.busy()) {
      co_await session.became_busy().wait();
      dog.begin(clock::now());
      continue;
    }
    timer.expires_at(dog.next());
    co_await timer.async_wait(asio::use_awaitable);
    const bool unread = session.channel()->has_input();
    const auto now = clock::now();
    const action what = dog.tick(now, unread ? now : session.last_heard());
    if (what == action::ping) session.send(make_number_frame(wire::frame_type::ping, 0, 0));
    if (what == action::resume) resident.kill(SIGCONT);
    if (what == action::kill) {
      self->options.log.error("resident: it does not answer and is killed");
      resident.kill(SIGKILL);
    }
  }
}

task<void> resident_link::sweep(std::shared_ptr<state> self) {
  if (!self->owns_resident() || !self->options.pool) co_return;
  remains work(*self->session);
  auto call = self->options.pool->run(std::move(work));
  const std::vector<swept_process> survivors = co_await std::move(call);
  self->swept = true;
  self->log_survivors(survivors);
}

// ---- the end ----------------------------------------------------------------------------------------------------------

task<void> resident_link::end_resident(std::shared_ptr<state> self) {
  auto& session = *self->session;
  const bool was_lost = session.lost();
  self->ending = true;
  if (!was_lost) session.send(make_frame(wire::frame_type::bye, 0));
  if (!was_lost && self->owns_resident()) {
    const bool exited = co_await exited_within(self, bye_limit);
    if (!exited) {
      self->options.resident->kill(SIGKILL);
      (void)co_await exited_within(self, exit_after_end);
    }
    if (!self->ended_well()) co_await sweep(self);
  }
  session.lose("the place was destroyed");
  const auto group = self->group.lock();
  if (!group) co_return;
  // A sweep after a loss is waited for, and has a bound of its own.
  if (was_lost) (void)co_await group->ended_by(clock::now() + sweep_limit + 500ms);
  group->cancel();
  (void)co_await group->ended_by(clock::now() + sweep_limit);
}

void resident_link::end_blocking() noexcept {
  if (state_->session->is_copy()) return;
  state_->ending = true;
  state_->session->lose("the place is gone");
  group_->cancel();
  if (!state_->owns_resident()) return;
  const helper_process& resident = *state_->options.resident;
  if (!resident.wait_blocking(destructor_limit)) {
    resident.kill(SIGKILL);
    resident.wait_blocking(exit_after_end);
  }
  if (state_->swept || state_->ended_well()) return;
  state_->swept = true;
  state_->log_survivors(remains(*state_->session)());
}

bool resident_link::idle() const noexcept { return group_->size() == 0; }

}  // namespace berth
