#include "host/host_place.hpp"

#include "berth/error.hpp"
#include "context/resident_link.hpp"
#include "core/event.hpp"
#include "host/denial_watch.hpp"
#include "host/failed_process.hpp"
#include "host/resident_launch.hpp"
#include "isolation/bwrap.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace berth {

struct host_place::state {
  state(asio::any_io_executor on, host_place_options o)
      : executor(std::move(on)),
        options(std::move(o)),
        changes(std::make_shared<const std::vector<std::string>>(std::move(options.changes))),
        launched(executor),
        looked(executor) {}

  /// A launch that was cancelled may have left a sandbox that nobody has looked at.
  bool is_fit() const noexcept { return !options.isolation || is_checked; }

  asio::any_io_executor executor;
  host_place_options options;
  std::shared_ptr<const std::vector<std::string>> changes;
  std::shared_ptr<resident_link> link;
  std::shared_ptr<const denial_rules> rules;  ///< of the sandbox that the link leads into
  /// Lost and still swept; or of a sandbox that gets no commands any more, while what runs there goes on.
  std::vector<std::shared_ptr<resident_link>> former;
  bool launching = false;
  bool destroyed = false;
  event launched;

  // The plan of an isolation.
  bool is_checked = false;                ///< what is mounted in the open sandbox is what was planned
  std::uint64_t plan = 0;                 ///< that of the open sandbox
  std::uint64_t plan_wanted = 0;          ///< that of the last look
  std::vector<std::string> mount_points;  ///< that the open sandbox pins
  std::uint64_t looks_begun = 0, looks_done = 0;
  bool looking = false;
  std::string look_failure;
  event looked;
};

namespace {

// Says that something is over, whichever way it went.
class busy_mark {
 public:
  busy_mark(bool& flag, event& over) : flag_(flag), over_(over) { flag_ = true; }
  busy_mark(const busy_mark&) = delete;
  busy_mark& operator=(const busy_mark&) = delete;
  ~busy_mark() {
    flag_ = false;
    over_.notify();
  }

 private:
  bool& flag_;
  event& over_;
};

scope_source scope_of(const host_place_options& options) {
  if (!options.isolation) return whole_host;
  return [site = options.isolation] { return site->scope(); };
}

}  // namespace

host_place::host_place(asio::any_io_executor executor, host_place_options options)
    : state_(std::make_shared<state>(std::move(executor), std::move(options))),
      files_(state_->executor, file_work{scope_of(state_->options), state_->options.pool}) {}

host_place::~host_place() {
  state_->destroyed = true;
  for (const auto& each : state_->former) each->end_blocking();
  if (state_->link) state_->link->end_blocking();
}

task<void> host_place::open() { return open_in(state_); }

void host_place::set_changes(std::vector<std::string> changes) {
  state_->changes = std::make_shared<const std::vector<std::string>>(std::move(changes));
}

task<std::unique_ptr<backend_process>> host_place::start(command what) { return start_in(state_, std::move(what)); }

task<void> host_place::destroy() { return destroy_all(state_); }

task<void> host_place::launch(std::shared_ptr<state> self) {
  const busy_mark mark(self->launching, self->launched);
  if (self->link) self->former.push_back(std::move(self->link));
  std::erase_if(self->former, [](const auto& each) { return each->idle(); });
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

task<std::shared_ptr<prepared_sandbox>> host_place::prepare(std::shared_ptr<state> self) {
  auto prepare = [site = self->options.isolation, env = self->options.env] {
    return std::make_shared<prepared_sandbox>(site->prepare(env));
  };
  auto preparing = self->options.pool->run(std::move(prepare));
  co_return co_await std::move(preparing);
}

/// Ends the oldest sandboxes in which no command runs, until so many are left that live.
task<void> host_place::end_former(std::shared_ptr<state> self, std::size_t kept) {
  std::vector<std::shared_ptr<resident_link>> living;
  for (const auto& each : self->former) {
    if (!each->lost()) living.push_back(each);
  }
  std::size_t left = living.size();
  for (const auto& each : living) {
    if (left <= kept) co_return;
    if (kept > 0 && each->session()->commands() > 0) continue;
    co_await each->end();
    --left;
  }
}

/// Somebody may have changed what the plan rests on since the last command: a few system calls tell. Not here but on the pool,
/// as a root on a dead network file system would hold up everything; commands that start together share one look.
task<void> host_place::look(std::shared_ptr<state> self) {
  const std::uint64_t needed = self->looks_begun + 1;  // one under way may have been too early
  while (self->looks_done < needed) {
    if (self->looking) {
      co_await self->looked.wait();
      continue;
    }
    const busy_mark mark(self->looking, self->looked);
    const std::uint64_t number = ++self->looks_begun;
    auto look = [site = self->options.isolation] { return site->look(); };
    auto looking = self->options.pool->run(std::move(look));
    self->look_failure.clear();
    try {
      self->plan_wanted = co_await std::move(looking);
    } catch (const error& failure) {
      if (failure.code() != errc::start_failed) throw;
      self->look_failure = failure.message();
    }
    self->looks_done = number;
  }
  if (!self->look_failure.empty()) throw error(make_error_code(errc::start_failed), self->look_failure);
}

task<std::shared_ptr<prepared_sandbox>> host_place::prepare_next(std::shared_ptr<state> self) {
  constexpr std::size_t most_former = 4;
  co_await end_former(self, most_former);
  std::shared_ptr<prepared_sandbox> sandbox = co_await prepare(self);
  const auto living = [](const auto& each) { return !each->lost(); };
  if (std::any_of(self->former.begin(), self->former.end(), living)) {
    self->options.log.info(
        "isolation: what its limits rest on has changed, so new commands get another sandbox; what runs stays in the "
        "old one, and with the network denied they do not reach each other");
    const auto points = mount_points(sandbox->plan);
    const auto& pinned = self->mount_points;
    if (!std::includes(pinned.begin(), pinned.end(), points.begin(), points.end())) {
      // A command could put links where bwrap is about to mount.
      self->options.log.warning(
          "isolation: there is a new writable root below /tmp, so what runs in the old sandbox was ended");
      co_await end_former(self, 0);
      sandbox = co_await prepare(self);
    }
  }
  for (const std::string& each : sandbox->warnings) self->options.log.warning(each);
  co_return sandbox;
}

/// Through the link then; nothing has run in it.
task<void> host_place::enter_sandbox(std::shared_ptr<state> self, std::shared_ptr<prepared_sandbox> sandbox) {
  if (self->destroyed) throw error(make_error_code(errc::destroyed), "process context");
  self->is_checked = false;
  self->rules = std::make_shared<const denial_rules>(denial_rules{self->options.isolation->settings(), sandbox->plan});
  self->plan = sandbox->number;
  self->mount_points = mount_points(sandbox->plan);
  launched_resident fresh = launch_isolated(self->executor, *sandbox);
  const auto link = make_link(*self, fresh.process);
  try {
    co_await link->attach(fresh.channel);
  } catch (const error& failure) {
    if (is_cancelled(failure.code())) throw;
    throw error(make_error_code(errc::start_failed), explain_failure(*sandbox, failure));
  }
}

task<void> host_place::launch_in_sandbox(std::shared_ptr<state> self) {
  // A host that starts containers mounts things all the time; each of them may come in between.
  constexpr int most_tries = 8;
  std::string wrong;
  for (int tries = 0; tries < most_tries; ++tries) {
    const std::shared_ptr<prepared_sandbox> sandbox = co_await prepare_next(self);
    co_await enter_sandbox(self, sandbox);
    auto check = [sandbox] { return find_wrong_mount(*sandbox); };
    auto checking = self->options.pool->run(std::move(check));
    try {
      wrong = co_await std::move(checking);
    } catch (const std::system_error& failure) {
      if (is_cancelled(failure.code())) throw;
      wrong = failure.what();
    }
    self->is_checked = wrong.empty();
    if (self->is_checked) co_return;
    self->options.log.info("isolation: a sandbox was ended before any command: " + wrong);
    const auto link = std::move(self->link);
    co_await link->end();
  }
  throw error(make_error_code(errc::start_failed), "[isolation] what was mounted is not what was asked for (" + wrong +
                                                       "): something moves these directories; command was not run");
}

task<std::shared_ptr<resident_session>> host_place::session_of(std::shared_ptr<state> self) {
  for (;;) {
    if (self->destroyed) throw error(make_error_code(errc::destroyed), "process context");
    if (self->launching) {
      co_await self->launched.wait();
    } else if (!self->link || self->link->lost() || self->plan < self->plan_wanted || !self->is_fit()) {
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
    if (self->options.isolation) co_await look(self);
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
  watched_command watched = watched_in(what);
  watched.rules = self->rules;
  auto start = start_on_resident(std::move(session), std::move(what), self->changes, transport, place);
  auto started = co_await std::move(start);
  if (watched.rules) started = watch_for_denials(std::move(started), std::move(watched), self->options.pool);
  co_return started;
}

task<void> host_place::destroy_all(std::shared_ptr<state> self) {
  self->destroyed = true;
  while (self->launching) co_await self->launched.wait();
  auto all = self->former;
  if (self->link) all.push_back(self->link);
  for (const auto& each : all) co_await each->end();
  if (!self->options.isolation) co_return;
  auto clean = [site = self->options.isolation] { site->clean(); };
  auto cleaning = self->options.pool->run(std::move(clean));
  co_await std::move(cleaning);
}

}  // namespace berth
