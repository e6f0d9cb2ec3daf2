#include "docker/container_end.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"
#include "docker/container_story.hpp"
#include "docker/json_stream.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr auto story_takes = 2000ms;
constexpr auto state_takes = 1000ms;

/// The daemon remembers its last events. Reading them by name needs no clock of ours, and says what a removed container died of.
http::request events_of(const container& box) {
  json_array ids;
  ids.emplace_back(box.id());
  json_array kinds;
  kinds.emplace_back("container");
  json_object filters;
  filters.set("container", std::move(ids));
  filters.set("type", std::move(kinds));
  http::query_builder query;
  query.add("since", "1").add("filters", json(std::move(filters)).dump());
  return box.engine()->make_request("GET", query.behind("/events"));
}

task<void> read_story(container box, std::shared_ptr<container_story> into) {
  auto opening = box.engine()->open(events_of(box));
  const auto events = co_await std::move(opening);
  json_stream documents;
  while (!into->is_over()) {
    const std::string piece = co_await events->next();
    if (piece.empty()) co_return;
    documents.feed(piece);
    while (const auto one = documents.next()) into->add(*one);
  }
}

/// What kept the daemon from answering, or nothing: that it says nothing new is no failure.
task<std::string> gather(container box, std::shared_ptr<container_story> into) {
  try {
    auto reading = read_story(std::move(box), into);
    auto bounded = with_deadline(std::move(reading), story_takes);
    co_await std::move(bounded);
  } catch (const error& failure) {
    if (is_cancelled(failure.code())) throw;
    if (failure.code() != errc::timeout) co_return failure.what();
  }
  co_return std::string();
}

task<resident_end> end_by_state(container box) {
  resident_end found;
  try {
    auto asking = box.state();
    auto bounded = with_deadline(std::move(asking), state_takes);
    const std::optional<container_state> now = co_await std::move(bounded);
    if (!now) {
      found.cause = container_was_removed;
    } else if (!now->running) {
      found.cause = "lost: the container ended with " + std::to_string(now->exit_code);
    }
  } catch (const error& failure) {
    if (is_cancelled(failure.code())) throw;
    found.cause = "lost: the container is out of reach: " + std::string(failure.what());
  }
  co_return found;
}

}  // namespace

task<resident_end> explain_end(container box) {
  const auto story = std::make_shared<container_story>();
  const std::string failure = co_await gather(box, story);
  resident_end found = story->told();
  if (!found.cause.empty()) co_return found;
  if (failure.empty()) co_return co_await end_by_state(std::move(box));
  found.cause = "lost: the container is out of reach: " + failure;
  co_return found;
}

task<bool> is_known_to_have_ended(container box) {
  try {
    auto asking = box.state();
    auto bounded = with_deadline(std::move(asking), state_takes);
    const std::optional<container_state> now = co_await std::move(bounded);
    co_return !now || !now->running;
  } catch (const error& failure) {
    if (is_cancelled(failure.code())) throw;
  }
  co_return false;
}

}  // namespace berth
