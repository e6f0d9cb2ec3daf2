#include "docker/given_place.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"
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

}  // namespace

task<spawned_place> spawn_in_given(asio::any_io_executor executor, given_container place, docker_context_options wanted,
                                   logger log) {
  spawned_place done;
  done.cwd = wanted.cwd.empty() ? place.cwd : wanted.cwd;
  const auto why_not = std::make_shared<std::string>();
  auto finding = find_guest(executor, place, wanted, log, why_not);
  const std::shared_ptr<launched_guest> guest = co_await std::move(finding);
  if (!guest)
    throw error(make_error_code(errc::unsupported),
                "container " + place.shown + ": no resident can live in it: " + *why_not);
  done.place = std::make_shared<guest_place>(executor, guest, wanted.lease, log);
  std::exception_ptr failure;
  try {
    co_await done.place->files()->make_directory(done.cwd);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    co_await hold_cancellation();
    co_await give_up(done.place);
    std::rethrow_exception(failure);
  }
  co_return done;
}

}  // namespace berth
