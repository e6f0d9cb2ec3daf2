#pragma once
/// What a test left behind.

#include <sys/types.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace berth::test {

/// Takes stock when it is made, and later says what came and did not go.
///
/// It marks what is started meanwhile with BERTH_TEST_ID in the environment, and gives the test a TMPDIR of its own. Looked at:
/// - children of this process, zombies too;
/// - processes anywhere that carry the mark;
/// - processes whose RLIMIT_LOCKS is finite and was not before: commands are tagged with it, and keep it when they drop their
///   environment. Those of tests that run beside this one are told apart by their ancestors;
/// - open descriptors, by what they point to;
/// - entries of the directory for temporary files;
/// - cgroups that a resident made, but for those whose resident lives and is no child of this process.
class leak_check {
 public:
  leak_check();
  ~leak_check();
  leak_check(const leak_check&) = delete;
  leak_check& operator=(const leak_check&) = delete;

  /// Waits until nothing is left or the time has passed; gives a line for each thing that is. Processes among them are ended.
  std::vector<std::string> left_over(std::chrono::milliseconds patience = std::chrono::seconds(2));

  /// What `left_over` would call processes now, children of this program apart: commands and what they started.
  std::vector<pid_t> commands() const;

  /// Leaves one process out.
  void ignore(pid_t pid) { ignored_.insert(pid); }

 private:
  std::vector<pid_t> processes_left() const;
  std::vector<std::string> files_left() const;
  std::vector<std::string> cgroups_left() const;

  std::string id_;
  std::set<pid_t> children_;
  std::set<pid_t> tagged_;
  std::set<pid_t> ignored_;
  std::multiset<std::string> descriptors_;
  std::set<std::string> temporary_;
  std::set<std::string> cgroups_;
};

}  // namespace berth::test
