#include "docker/given_place.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"
#include "docker/engine_place.hpp"
#include "docker/guest_place.hpp"

#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

namespace berth {
namespace {

constexpr std::chrono::seconds end_takes{15};

std::vector<std::string> env_of(const docker_context_options& wanted) {
  std::vector<std::string> all;
  for (const auto& [name, value] : wanted.env) all.push_back(name + "=" + value);
  return all;
}

task<std::shared_ptr<launched_guest>> find_guest(asio::any_io_executor executor, given_container place,
                                                 docker_context_options wanted, logger log,
                                                 std::shared_ptr<std::string> why_not) {
  const std::string ours = architecture_of_resident();
  if (!place.architecture.empty() && place.architecture != ours) {
    *why_not = "its image is for linux/" + place.architecture + ", and the resident for linux/" + ours;
    co_return nullptr;
  }
  guest_launch_options guest;
  guest.env = env_of(wanted);
  guest.user = wanted.user;
  guest.lease = wanted.lease;
  guest.log = std::move(log);
  auto launching = launch_guest(std::move(executor), std::move(place), std::move(guest), std::move(why_not));
  co_return co_await std::move(launching);
}

task<void> give_up(std::shared_ptr<backend_place> place) {
  try {
    co_await shielded(end_takes, place->destroy());
  } catch (const std::system_error&) {  // the first failure says more
  }
}

task<void> make_cwd(spawned_place made) {
  std::exception_ptr failure;
  try {
    co_await made.place->files()->make_directory(made.cwd);
  } catch (...) {
    failure = std::current_exception();
  }
  if (!failure) co_return;
  co_await hold_cancellation();
  co_await give_up(made.place);
  std::rethrow_exception(failure);
}

task<std::shared_ptr<backend_place>> make_engine_place(asio::any_io_executor executor, given_container place,
                                                       docker_context_options wanted) {
  auto finding = find_container_user(place.box, wanted.user);
  const container_user owner = co_await std::move(finding);
  engine_files_place files{place.box, wanted.user, owner, place.memory_directories};
  co_return std::make_shared<engine_place>(executor, std::move(files), env_of(wanted));
}

}  // namespace

task<place_in_container> spawn_in_given(asio::any_io_executor executor, given_container place,
                                        docker_context_options wanted, logger log) {
  place_in_container done;
  done.spawned.cwd = wanted.cwd.empty() ? place.cwd : wanted.cwd;
  done.runner = wanted.runner == docker_runner::engine ? docker_runner::engine : docker_runner::resident;
  const auto why_not = std::make_shared<std::string>();
  std::shared_ptr<launched_guest> guest;
  if (wanted.runner != docker_runner::engine) {
    auto finding = find_guest(executor, place, wanted, log, why_not);
    guest = co_await std::move(finding);
    if (!guest && wanted.runner == docker_runner::resident)
      throw error(make_error_code(errc::unsupported),
                  "container " + place.shown + ": no resident can live in it: " + *why_not);
  }
  if (guest) {
    done.spawned.place = std::make_shared<guest_place>(executor, guest, wanted.lease, log);
  } else {
    done.runner = docker_runner::engine;
    auto making = make_engine_place(executor, place, wanted);
    done.spawned.place = co_await std::move(making);
    if (wanted.runner == docker_runner::automatic) log.warning(engine_warning("container " + place.shown, *why_not));
  }
  auto making = make_cwd(done.spawned);
  co_await std::move(making);
  co_return done;
}

}  // namespace berth
