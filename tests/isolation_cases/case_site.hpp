#pragma once
/// What the cases of a sandbox share. Each is a test called "isolation NUMBER: ...", run by two runners: isolation-cases as who we
/// are, and where that is root isolation-cases-user as a user that no user database knows.
///
/// 1-18, 34, 35, 47-52, 59, 60   file_cases.cpp      what is written, and where roots lie
/// 19-33, 36-42                  reach_cases.cpp     processes, sockets, the kernel, descriptors
/// 43-46, 53-55, 57, 58, 61-64, 67   command_cases.cpp   commands, terminals, ends
/// 56                            tool_cases.cpp      git, compilers, node, python, a server and its client
/// 65, 66                        the file operations of the library and roots that are replaced: tests/host
/// 68-70                         the line about what was denied: tests/isolation/hint_test.cpp and tests/host
/// There is no 30 and no 31. 5, 23 and 25 with the network allowed are limits, which docs/isolation.md states.

#include "support/async.hpp"
#include "support/leaks.hpp"
#include "support/temp_dir.hpp"
#include "support/variable.hpp"
#include "support/waiting.hpp"

#include <berth/background.hpp>
#include <berth/process_context.hpp>
#include <berth/terminal.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace berth::test {

using namespace std::chrono_literals;

constexpr std::chrono::seconds case_patience(60);

/// What the kernel says.
constexpr const char* read_only = "Read-only file system";
constexpr const char* busy = "Device or resource busy";
constexpr const char* not_permitted = "Operation not permitted";

/// A directory that may be written, one beside it that may not though its files are ours, and what they have in them:
/// `root`: attempt.py, .git with hooks and config, `link` and `dir` that lead to `outside/f` and `outside`. `outside`: f, "old".
class case_site {
 public:
  case_site();

  std::string root() const { return at_ / "root"; }
  std::string outside() const { return at_ / "outside"; }
  /// A context in the root. Commands see /usr/bin, $OUT, and $HOST_PID of this program.
  process_context_options options(isolation_settings settings = {}) const;
  /// All that no case may change: names, modes, times and bytes of `outside` and of what is protected.
  std::string untouchable() const;

 private:
  temp_dir at_;
};

/// Settings in which the host's /tmp is seen: there sites lie, so that there is something to be denied.
isolation_settings sees_sites();

/// What a script is to come to.
struct expectation {
  enum class kind {
    works,            ///< with 0, and prints the text
    refused,          ///< with another code, and prints the text
    refused_outside,  ///< the same where the host's /tmp is seen; in a private one there is nothing at that path
  };
  kind what;
  std::string text;
};
inline expectation works(std::string text = {}) { return {expectation::kind::works, std::move(text)}; }
inline expectation refused(std::string text) { return {expectation::kind::refused, std::move(text)}; }
inline expectation refused_outside(std::string text) { return {expectation::kind::refused_outside, std::move(text)}; }

/// Runs shell text in the root of a new site, with the network denied and the host's /tmp seen, then with the network allowed and a
/// private /tmp. Whatever it comes to, what is untouchable stays as it was.
void run_script_case(const char* name, const std::string& script, const expectation& expected);

/// No sandbox can be made here, or a program is missing. Says so, as a skipped test.
bool lacks(const char* name, const std::string& program = "/usr/bin/bwrap");

/// A handle with isolation in a site, for cases of more than one script.
struct opened_site {
  opened_site(context p, handle w) : place(std::move(p)), where(std::move(w)) {}
  context place;
  handle where;
};
task<opened_site> open_site(asio::io_context& io, const case_site& site, isolation_settings settings = {});

}  // namespace berth::test

#define SCRIPT_CASE(number, sentence, script, expected)                                   \
  TEST_CASE("isolation " #number ": " sentence) {                                         \
    ::berth::test::run_script_case("isolation " #number ": " sentence, script, expected); \
  }
