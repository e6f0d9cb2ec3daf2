#pragma once
/// The cgroup of one command: made below a directory that the owner names, and removed when nothing is in it any more.

#include "resident/loop.hpp"
#include "wire/messages.hpp"

namespace berth::resident {

class session;

struct cgroup {
  cgroup* next = nullptr;
  cgroup* prev = nullptr;
  session* owner = nullptr;
  std::uint32_t id = 0;
  char* path = nullptr;
  source changes;            ///< of cgroup.events, which says whether anything lives in it
  bool is_released = false;  ///< its first process has ended: it goes once nothing is left in it
};

/// Makes it and writes its limits. Null with errno where one of them fails; nothing is left then.
cgroup* make_cgroup(const wire::start& request, std::uint32_t nonce, std::uint32_t id);
/// Removes it, with what was made below it. False where something lives in it.
bool remove_directory(const cgroup& g);
void destroy_cgroup(cgroup* g);

/// A descriptor of cgroup.procs to write "0" to, or -1.
int open_procs(const cgroup& g);
/// KILL to everything in it, at one blow, whoever it belongs to. False where the kernel cannot.
bool kill_all_in(const cgroup& g);
/// Something lives in it, or below. What is read here does not make `changes` ready again.
bool is_populated(const cgroup& g);
/// What stands behind `key` in a file with lines of "key number"; 0 where there is none.
std::uint64_t number_in(int fd, const char* key);
/// What its limits did so far: a set of wire::cgroup_event.
std::uint32_t events_of(const cgroup& g);

}  // namespace berth::resident
