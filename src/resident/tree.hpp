#pragma once
/// Which processes belong to a command, and how all of them are ended. docs/resident.md has the rules.

#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "resident/memory.hpp"

namespace berth::resident {

/// What a process of a command is known by.
struct membership {
  std::uint64_t tag = 0;  ///< value of RLIMIT_LOCKS
  pid_t leader = 0;       ///< its first process, 0 once reaped
  pid_t session = 0;      ///< 0 where the number may mean another session by now
};

/// While it lives, the descriptors that are kept for walking may be used.
class use_of_reserve {
 public:
  use_of_reserve();
  ~use_of_reserve();
  use_of_reserve(const use_of_reserve&) = delete;
  use_of_reserve& operator=(const use_of_reserve&) = delete;

 private:
  rlimit64 usual_;
};

class tree {
 public:
  /// Picks this resident's nonce, below that of an outer one.
  tree();

  std::uint32_t nonce() const { return nonce_; }
  std::uint64_t tag(std::uint32_t id) const { return std::uint64_t{nonce_} << 32 | id; }
  /// The hard value for the tag; an outer resident's is kept.
  std::uint64_t hard_limit(std::uint32_t id) const { return is_inner_ ? outer_hard_ : tag(id); }

  /// Sends a signal, then CONT, to every process of the command.
  void signal_all(const membership& m, int signo);
  /// One pass of KILL over the resident's children (`deep`: over all descendants). How many of the command's were alive.
  int kill_pass(const membership& m, bool deep);
  /// Appends the pid of each process of the command, as pid_t.
  void members(const membership& m, buffer& pids);
  /// How many processes of the command are alive.
  int count(const membership& m);
  /// Puts pid and name of each process that could not be killed into `out`, as tree_ended has them; how many.
  std::uint32_t survivors(const membership& m, buffer& out);
  /// One pass of KILL over all children, whatever they are, and where `deep` or needed over all that was started here. False if only
  /// what belongs to other users is left.
  bool kill_everything(bool deep);

  /// How many of the descriptors a process may have are kept for walking: commands cannot use up what it takes to end them.
  static std::uint64_t descriptors_kept(std::uint64_t limit) { return limit < 256 ? limit / 4 : 64; }

 private:
  template <class F>
  void for_each_child(pid_t parent, F f);
  template <class F>
  void scan_for_children(pid_t parent, F f);
  template <class F>
  void for_each_descendant(pid_t of, F f, int depth);
  template <class F>
  void visit(bool deep, F f);
  bool is_tagged(const rlimit64& limit) const;
  bool belongs(const membership& m, pid_t pid) const;
  bool is_alive(const membership& m, pid_t pid) const;

  std::uint32_t nonce_ = 0;
  pid_t self_;
  bool has_children_files_;
  bool is_inner_ = false;
  std::uint64_t outer_hard_ = 0;
};

}  // namespace berth::resident
