#include "docker/container_story.hpp"

#include <charconv>
#include <string_view>

namespace berth {
namespace {

int number_in(const json& value) noexcept {
  const std::string* text = value.if_string();
  int number = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

}  // namespace

void container_story::add(const json& event) {
  const std::string* action = event["Action"].if_string();
  if (action == nullptr) return;
  const json& attributes = event["Actor"]["Attributes"];
  if (*action == "oom") {
    saw_oom_ = true;
  } else if (*action == "kill") {
    // Others than these are for the program, and not its end.
    constexpr int terminate = 15;
    constexpr int kill = 9;
    const int number = number_in(attributes["signal"]);
    if (number == terminate || number == kill) signal_ = number;
  } else if (*action == "die" || *action == "died") {
    exit_code_ = number_in(attributes["exitCode"]);
  } else if (*action == "destroy" || *action == "remove") {
    is_removed_ = true;
  } else if (*action == "start") {
    *this = {};  // of an earlier life
  }
}

resident_end container_story::told() const {
  if (!has_died()) return {};
  if (signal_ != 0)
    return {"lost: the container was ended through its daemon (signal " + std::to_string(signal_) + ")", false};
  if (saw_oom_ && exit_code_ == killed) return {"the container ran out of memory, and the kernel ended it", true};
  if (!exit_code_) return {container_was_removed, false};
  if (exit_code_ == killed) return {"lost: the container was killed (signal 9)", false};
  return {"lost: the container ended with " + std::to_string(*exit_code_), false};
}

}  // namespace berth
