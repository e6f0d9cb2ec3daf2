#include "docker/kept_container.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"
#include "core/shown_path.hpp"

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace berth {
namespace {

constexpr std::chrono::seconds removal_takes{30};
constexpr std::chrono::milliseconds between_looks{50};
constexpr int looks = 10;  // what cannot be run ends at once, but behind the init

task<void> remove_shielded(container box) {
  try {
    co_await shielded(removal_takes, box.remove());
  } catch (const std::system_error&) {  // the first failure says more
  }
}

json spec_of(const docker_context_options& wanted, const docker_labels& labels, std::vector<std::string> entrypoint) {
  container_fittings fittings;
  fittings.entrypoint = std::move(entrypoint);
  fittings.labels = labels;
  fittings.stdin_open = true;
  fittings.stdin_once = true;
  fittings.init = true;
  return container_spec(wanted, fittings);
}

/// Throws start_failed if it ends by itself.
task<http::stream_ptr> start_and_watch(container box) {
  http::stream_ptr keeper = co_await box.attach_input();
  co_await box.start();
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (int i = 0; i < looks; ++i) {
    timer.expires_after(between_looks);
    co_await timer.async_wait(asio::use_awaitable);
    const std::optional<container_state> state = co_await box.state();
    if (!state || !state->running)
      throw error(make_error_code(errc::start_failed),
                  "its first process ended at once" + (state ? " with " + std::to_string(state->exit_code) : ""));
  }
  co_return keeper;
}

struct attempt {
  std::shared_ptr<kept_container> made;
  std::string why_not;
};

task<attempt> try_one(std::shared_ptr<docker_engine> engine, docker_context_options wanted, docker_labels labels,
                      std::vector<std::string> entrypoint) {
  json spec = spec_of(wanted, labels, std::move(entrypoint));
  auto creating = container::create(std::move(engine), std::move(spec), wanted.name, wanted.platform);
  const container box = co_await std::move(creating);
  attempt result;
  std::exception_ptr failure;
  try {
    http::stream_ptr keeper = co_await start_and_watch(box);
    result.made = std::make_shared<kept_container>(kept_container{box, std::move(keeper)});
  } catch (const error& caught) {
    result.why_not = caught.message();
    if (caught.code() != errc::start_failed) failure = std::current_exception();
  } catch (...) {
    failure = std::current_exception();
  }
  if (!result.made) {
    co_await hold_cancellation();
    co_await remove_shielded(box);
  }
  if (failure) std::rethrow_exception(failure);
  co_return result;
}

}  // namespace

task<std::shared_ptr<kept_container>> launch_kept(std::shared_ptr<docker_engine> engine, docker_context_options wanted,
                                                  docker_labels labels) {
  std::vector<std::string> cat{"cat"};
  auto trying = try_one(engine, wanted, labels, std::move(cat));
  const attempt first = co_await std::move(trying);
  if (first.made) co_return first.made;
  std::vector<std::string> own;
  auto trying_own = try_one(engine, wanted, labels, std::move(own));
  const attempt second = co_await std::move(trying_own);
  if (second.made) co_return second.made;
  throw error(make_error_code(errc::unsupported), "image " + shown_path(wanted.image) +
                                                      ": nothing keeps its container alive: `cat`: " + first.why_not +
                                                      "; what it starts itself: " + second.why_not);
}

}  // namespace berth
