#pragma once
/// The program `berth`, started by a test.

#include "support/leaks.hpp"

#include <doctest/doctest.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::test {

using words = std::vector<std::string>;

/// How it ended: its exit code, or minus the signal that ended it.
struct program_end {
  int code = 0;
  std::string out;
  std::string err;
};

/// A program with a pipe at each of its standard streams, all of them ours.
///
/// Life: one that still runs is killed.
class program {
 public:
  static constexpr std::chrono::seconds patience{20};

  /// `berth` with these arguments.
  explicit program(words arguments);
  /// The same with this descriptor as its standard output.
  program(words arguments, int output);
  /// Any program; signals are at their defaults.
  static program any(words argv) { return program(exact_words{std::move(argv)}); }
  /// Shell text, in which "$0" is `berth`.
  static program shell(std::string text);
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  ~program();

  pid_t pid() const { return pid_; }
  void write(std::string_view bytes);
  void close_input();
  /// Nobody reads its output from now on.
  void close_output();
  void signal(int signo) const;

  /// Reads until its standard output contains this; false if it ended or the time has passed before.
  bool prints(std::string_view text, std::chrono::milliseconds limit = patience);
  /// Reads to the end and waits. A program that does not end in time fails the test.
  program_end end(std::chrono::milliseconds limit = patience);

  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }

 private:
  struct exact_words {
    words argv;
  };
  explicit program(exact_words exact, int output = -1);
  /// One read of what is ready; false at the end of both, or when the time has passed.
  bool read_some(std::chrono::steady_clock::time_point deadline);

  pid_t pid_ = -1;
  int in_ = -1;
  int out_fd_ = -1;
  int err_fd_ = -1;
  std::string out_;
  std::string err_;
};

/// Runs `berth` to its end with this standard input.
program_end berth_ends(words arguments, std::string_view input = {});

/// Runs shell text in which "$0" is `berth`.
program_end shell_ends(std::string text);

/// Fails the test if anything is left behind at the end of the block.
class nothing_left {
 public:
  nothing_left() = default;
  ~nothing_left() {
    for (const std::string& left : leaks_.left_over()) FAIL_CHECK(left);
  }

 private:
  leak_check leaks_;
};

/// Looks again and again until it is so; false when the time has passed.
bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = program::patience);

int count_lines(std::string_view text);

/// How long since this was made.
class stopwatch {
 public:
  std::chrono::milliseconds time() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began_);
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace berth::test
