#include "host/host_place.hpp"

#include "berth/error.hpp"
#include "context/resident_link.hpp"
#include "core/event.hpp"
#include "host/failed_process.hpp"
#include "host/resident_launch.hpp"

#include <unistd.h>

#include <utility>

namespace berth {

struct host_place::state {
  state(asio::any_io_executor on, host_place_options o)
      : executor(std::move(on)),
        options(std::move(o)),
        changes(std::make_shared<const std::vector<std::string>>(std::move(options.changes))),
        launched(executor) {}

  asio::any_io_executor executor;
  host_place_options options;
  std::shared_ptr<const std::vector<std::string>> changes;
  std::shared_ptr<resident_link> link;
  std::vector<std::shared_ptr<resident_link>> lost;  ///< and still swept
  bool launching = false;
  bool destroyed = false;
  event launched;
};

namespace {

// Says that a launch is over, whichever way it went.
class launch_mark {
 public:
  launch_mark(bool& flag, event& over) : flag_(flag), over_(over) { flag_ = true; }
  launch_mark(const launch_mark&) = delete;
  launch_mark& operator=(const launch_mark&) = delete;
  ~launch_mark() {
    flag_ = false;
    over_.notify();
  }

 private:
  bool& flag_;
  event& over_;
};

}  // namespace

host_place::host_place(asio::any_io_executor executor, host_place_options options)
    : state_(std::make_shared<state>(std::move(executor), std::move(options))),
      files_(state_->executor, file_work{state_->options.scope, state_->options.pool}) {}

host_place::~host_place() {
  state_->destroyed = true;
  for (const auto& each : state_->lost) each->end_blocking();
  if (state_->link) state_->link->end_blocking();
}

task<void> host_place::open() { return open_in(state_); }

void host_place::set_changes(std::vector<std::string> changes) {
  state_->changes = std::make_shared<const std::vector<std::string>>(std::move(changes));
}

task<std::unique_ptr<backend_process>> host_place::start(command what) { return start_in(state_, std::move(what)); }

task<void> host_place::destroy() { return destroy_all(state_); }

task<void> host_place::launch(std::shared_ptr<state> self) {
  const launch_mark mark(self->launching, self->launched);
  if (self->link) self->lost.push_back(std::move(self->link));
  std::erase_if(self->lost, [](const auto& each) { return each->idle(); });
  if (self->options.isolation) {
    co_await launch_in_sandbox(self);
  } else {
    launched_resident fresh = launch_resident(self->executor, self->options.env);
    const auto link = make_link(*self, fresh.process);
    co_await link->attach(fresh.channel);
  }
}

std::shared_ptr<resident_link> host_place::make_link(state& self, helper_process resident) {
  resident_link_options options;
  options.resident = std::move(resident);
  options.pool = self.options.pool;
  options.log = self.options.log;
  self.link = std::make_shared<resident_link>(self.executor, std::move(options));
  return self.link;
}

task<void> host_place::launch_in_sandbox(std::shared_ptr<state> self) {
  auto prepare = [site = self->options.isolation, env = self->options.env] {
    return std::make_shared<prepared_sandbox>(site->prepare(env));
  };
  auto preparing = self->options.pool->run(std::move(prepare));
  const std::shared_ptr<prepared_sandbox> sandbox = co_await std::move(preparing);
  for (const std::string& each : sandbox->warnings) self->options.log.warning(each);
  if (self->destroyed) throw error(make_error_code(errc::destroyed), "process context");
  launched_resident fresh = launch_isolated(self->executor, *sandbox);
  const auto link = make_link(*self, fresh.process);
  try {
    co_await link->attach(fresh.channel);
  } catch (const error& failure) {
    if (is_cancelled(failure.code())) throw;
    throw error(make_error_code(errc::start_failed), explain_failure(*sandbox));
  }
}

task<std::shared_ptr<resident_session>> host_place::session_of(std::shared_ptr<state> self) {
  for (;;) {
    if (self->destroyed) throw error(make_error_code(errc::destroyed), "process context");
    if (self->launching) {
      co_await self->launched.wait();
    } else if (!self->link || self->link->lost()) {
      co_await launch(self);
    } else {
      co_return self->link->session();
    }
  }
}

task<void> host_place::open_in(std::shared_ptr<state> self) {
  try {
    (void)co_await session_of(self);
  } catch (const error& failure) {
    if (!self->options.isolation || failure.code() != errc::start_failed) throw;
    self->options.log.warning(failure.message());
  }
}

task<void> host_place::find_cgroups(std::shared_ptr<state> self) {
  auto find = [] { return std::make_shared<const cgroup_place>(prepare_cgroup_place()); };
  auto finding = self->options.pool->run(find);
  self->options.cgroups->place = co_await std::move(finding);
  const cgroup_place& place = *self->options.cgroups->place;
  if (!place.memory || !place.processes)
    self->options.log.info("limits: not of a command as a whole: " + place.why_not);
}

task<std::unique_ptr<backend_process>> host_place::start_in(std::shared_ptr<state> self, command what) {
  // A sandbox cannot write where cgroups are made, nor may it.
  const bool needs_place = !self->options.isolation && (what.limits().memory() || what.limits().processes());
  if (needs_place && !self->options.cgroups->place) co_await find_cgroups(self);
  const bool is_whole = needs_place && self->options.cgroups->place->processes;
  if (what.limits().processes() && !is_whole && ::geteuid() == 0) {
    const char* why = self->options.isolation ? "has none" : "can have none (berth doctor tells why)";
    self->options.log.warning(
        std::string("processes: root is not bound by this limit without a cgroup, and this place ") + why);
  }
  std::shared_ptr<resident_session> session;
  try {
    auto finding = session_of(self);
    session = co_await std::move(finding);
  } catch (const error& failure) {
    constexpr int not_found = 127;
    if (!self->options.isolation || failure.code() != errc::start_failed) throw;
    co_return make_failed_process(exit_status::start_failed(not_found, failure.message()));
  }
  // A thousand of them must not cost as many descriptors here.
  const auto transport = what.is_background() ? resident_transport::framed : self->options.transport;
  const auto place = self->options.isolation ? nullptr : self->options.cgroups->place;
  auto start = start_on_resident(std::move(session), std::move(what), self->changes, transport, place);
  co_return co_await std::move(start);
}

task<void> host_place::destroy_all(std::shared_ptr<state> self) {
  self->destroyed = true;
  while (self->launching) co_await self->launched.wait();
  auto all = self->lost;
  if (self->link) all.push_back(self->link);
  for (const auto& each : all) co_await each->end();
}

}  // namespace berth
