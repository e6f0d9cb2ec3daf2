#include "soak/kill_rounds.hpp"

#include "soak/owner_rounds.hpp"
#include "soak/place_rounds.hpp"

namespace berth::test {
namespace {

constexpr kill_scenario scenarios[] = {
    {"an owner that is killed", owner_killed},
    {"an owner that is killed while it starts", owner_killed_while_starting},
    {"an owner that forked without exec and is killed", owner_forked_and_killed},
    {"a deadline", ended_by_deadline},
    {"a cancelled exec", ended_by_cancel},
    {"kill()", ended_by_kill},
    {"a dropped process", ended_by_drop},
    {"destroy()", ended_by_destroy},
    {"the end of the context", ended_by_end_of_context},
    {"a resident that is killed", resident_killed},
    {"a resident that is stopped", resident_stopped},
    {"a resident that a command of its own kills", resident_killed_by_a_command},
    {"a resident that a command of its own stops", resident_stopped_by_a_command},
};

}  // namespace

std::span<const kill_scenario> kill_scenarios() { return scenarios; }

}  // namespace berth::test
