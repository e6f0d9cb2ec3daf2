#pragma once
/// This program once more, in surroundings that were made for it: `PROGRAM inside VERB ARGUMENTS`.

#include <functional>
#include <string>
#include <vector>

namespace berth::test {

struct self_end {
  int code = -1;
  std::string output;  ///< of both streams
};

/// Runs shell text in which $SELF is this program with the word `inside`, and waits for it. It has a minute.
self_end run_self(const std::string& shell_text);

/// Runs `inside owner` until it says something, calls back, and kills it. Gives what it said.
std::string run_owner_and_kill(const std::function<void()>& meanwhile);

/// The path of this program.
std::string self_path();

/// The verbs. The exit code; what is wrong is printed.
///   closed CAUSE   every kind of command ends with 127 and names the cause, nothing runs, and files can be read
///   works          a command runs, and is in a sandbox
///   gone           case 64; in a mount namespace of its own
///   late           what is mounted after a sandbox was opened does not reach into it; the caller made mounts shared
///   owner          has some commands, says "ready" and waits
///   filtered WORDS the same again under a filter that refuses mounts, as containers have it
int run_inside(const std::vector<std::string>& words);

}  // namespace berth::test
