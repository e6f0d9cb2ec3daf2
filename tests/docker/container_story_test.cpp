/// What a daemon's events of a container come to.
#include "docker/container_story.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

using namespace berth;

namespace {

json event_of(const std::string& action, const std::string& name = "", const std::string& value = "") {
  json_object attributes;
  if (!name.empty()) attributes.set(name, value);
  json_object actor;
  actor.set("Attributes", std::move(attributes));
  json_object event;
  event.set("Action", action);
  event.set("Actor", std::move(actor));
  return event;
}

container_story story_of(std::initializer_list<json> events) {
  container_story story;
  for (const json& each : events) story.add(each);
  return story;
}

const json died_by_kill = event_of("die", "exitCode", "137");

}  // namespace

TEST_CASE("story: of a container that runs nothing is told") {
  const container_story story = story_of({event_of("create"), event_of("start"), event_of("exec_start: ls")});
  CHECK_FALSE(story.has_died());
  CHECK_FALSE(story.is_over());
  CHECK(story.told().cause.empty());
}

TEST_CASE("story: who asked its daemon to end it is the cause") {
  for (const char* signal : {"9", "15"}) {
    const container_story story = story_of({event_of("kill", "signal", signal), died_by_kill});
    CHECK(story.is_over());
    CHECK(story.told().cause ==
          std::string("lost: the container was ended through its daemon (signal ") + signal + ")");
    CHECK_FALSE(story.told().out_of_memory);
  }
}

TEST_CASE("story: a signal that ends nothing is no cause") {
  const container_story story = story_of({event_of("kill", "signal", "10"), event_of("die", "exitCode", "3")});
  CHECK(story.told().cause == "lost: the container ended with 3");
}

TEST_CASE("story: want of memory, whether it is told before or behind the end") {
  for (const auto& events : {std::initializer_list<json>{event_of("oom"), died_by_kill},
                             std::initializer_list<json>{died_by_kill, event_of("oom")}}) {
    const container_story story = story_of(events);
    CHECK(story.is_over());
    CHECK(story.told().out_of_memory);
  }
  const container_story earlier = story_of({event_of("oom"), event_of("die", "exitCode", "0")});
  CHECK_FALSE(earlier.told().out_of_memory);
}

TEST_CASE("story: an end by signal 9 is over once it was removed, since who sent it may be told later") {
  container_story story = story_of({died_by_kill});
  CHECK(story.has_died());
  CHECK_FALSE(story.is_over());
  story.add(event_of("destroy"));
  CHECK(story.is_over());
  CHECK(story.told().cause == "lost: the container was killed (signal 9)");
}

TEST_CASE("story: an earlier life does not count, and what is no event neither") {
  container_story story = story_of({event_of("oom"), died_by_kill, event_of("start")});
  story.add(json(nullptr));
  story.add(json_object{{"Action", 7}});
  CHECK(story.told().cause.empty());
}
