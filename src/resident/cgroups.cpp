#include "resident/session.hpp"

#include <unistd.h>

namespace berth::resident {

/// Makes one, if it is asked for, that the child joins. False with errno; what was made goes by release_cgroup().
bool session::open_cgroup(command& c, launch& l, const wire::start& request) {
  if (request.cgroup.empty()) return true;
  cgroup* g = make_cgroup(request, tree_.nonce(), c.id);
  if (g == nullptr) return false;
  g->owner = this;
  g->changes.ready = on_cgroup;
  g->changes.owner = g;
  loop_.watch(g->changes, EPOLLPRI);
  cgroups_.insert(g);
  l.cgroup = open_procs(*g);
  return l.cgroup >= 0;
}

cgroup* session::cgroup_of(std::uint32_t id) {
  for (cgroup* g = cgroups_.first; g != nullptr; g = g->next) {
    if (g->id == id) return g;
  }
  return nullptr;
}

/// False where there is none, or the kernel cannot.
bool session::kill_cgroup(std::uint32_t id) {
  const cgroup* g = cgroup_of(id);
  return g != nullptr && kill_all_in(*g);
}

/// Its first process has ended, or never ran. What that left running keeps it.
void session::release_cgroup(std::uint32_t id) {
  cgroup* g = cgroup_of(id);
  if (g == nullptr) return;
  g->is_released = true;
  remove_cgroup(*g);
}

bool session::remove_cgroup(cgroup& g) {
  if (is_populated(g) || !remove_directory(g)) return false;
  loop_.close(g.changes);
  cgroups_.remove(&g);
  destroy_cgroup(&g);
  return true;
}

void session::on_cgroup(source& s, std::uint32_t) {
  auto& g = *static_cast<cgroup*>(s.owner);
  // Read in any case: until then it stays ready.
  if (!is_populated(g) && g.is_released) g.owner->remove_cgroup(g);
}

/// Nothing of ours lives any more; what a stranger put into one of them dies too.
void session::remove_all_cgroups() {
  constexpr int most_passes = 100;
  for (int pass = 0; cgroups_.first != nullptr && pass < most_passes; ++pass) {
    if (pass > 0) usleep(10000);
    for (cgroup *g = cgroups_.first, *next = nullptr; g != nullptr; g = next) {
      next = g->next;
      kill_all_in(*g);
      remove_cgroup(*g);
    }
  }
  if (cgroups_.first != nullptr) exit_code_ = 1;  // the owner sweeps
}

}  // namespace berth::resident
