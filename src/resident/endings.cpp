#include "resident/session.hpp"

#include <errno.h>
#include <signal.h>

namespace berth::resident {
namespace {

constexpr std::int64_t longest_pause_ms = 20;
/// Passes in a row that found nothing before a tree counts as dead; the list of children may miss one while others leave it.
constexpr int needed_quiet_passes = 2;
/// Most passes look at the resident's own children only, to be faster than what forks; these look at everything below, so that a
/// deep tree does not die level by level.
bool is_deep(int pass) { return pass % 4 == 0; }

}  // namespace

void session::signal(std::uint32_t id, std::string_view payload) {
  std::uint64_t signo = 0;
  command* c = find(id);
  if (c == nullptr || c->who.leader == 0 || !wire::get_number(payload, signo) || signo == 0 || signo > 64) return;
  // By group while the leader is unreaped: the number cannot mean another group.
  if (::kill(-c->who.leader, static_cast<int>(signo)) != 0) ::kill(c->who.leader, static_cast<int>(signo));
}

void session::kill(std::uint32_t id, std::string_view payload) {
  std::uint64_t grace = 0;
  if (!wire::get_number(payload, grace)) return;
  command* c = find(id);
  if (c == nullptr) {  // it has ended; what it left running has not
    c = make<command>();
    c->owner = this;
    c->id = id;
    c->exited = true;
    c->who.tag = tree_.tag(id);
    commands_.insert(c);
  }
  begin_ending(*c, grace);
}

void session::begin_ending(command& c, std::uint64_t grace_ms) {
  constexpr std::uint64_t longest_grace_ms = 86400000;
  const std::int64_t now = now_ms();
  const std::int64_t kill_at =
      now + static_cast<std::int64_t>(grace_ms < longest_grace_ms ? grace_ms : longest_grace_ms);
  if (c.end == ending::killing || (c.end == ending::asked && kill_at >= c.kill_at)) return;
  if (c.end == ending::none && grace_ms > 0) tree_.signal_all(c.who, c.has_terminal() ? SIGHUP : SIGTERM);
  c.end = ending::asked;
  c.kill_at = kill_at;
  c.next_step = now;  // the loop goes on from here at once
  c.pause_ms = 0;
  c.passes = 0;
  c.quiet_passes = 0;
}

/// Asked: is anything left? If not, or if the grace is over, the killing passes follow, until they find nothing.
void session::continue_ending(command& c) {
  const std::int64_t now = now_ms();
  c.pause_ms = c.pause_ms < longest_pause_ms ? c.pause_ms + 1 : longest_pause_ms;
  if (c.end == ending::asked) {
    const bool is_over = now >= c.kill_at;
    if (!is_over && (c.who.leader != 0 || tree_.count(c.who) > 0)) {
      c.next_step = now + c.pause_ms < c.kill_at ? now + c.pause_ms : c.kill_at;
      return;
    }
    c.end = ending::killing;
    c.pause_ms = 0;
  }
  if (c.who.leader > 0) {
    ::kill(-c.who.leader, SIGKILL);
    // Before its setsid it has no group of its own.
    c.is_beyond_us = ::kill(c.who.leader, SIGKILL) != 0 && errno == EPERM;
  }
  const std::uint32_t id = c.id;
  const bool has_killed = kill_cgroup(id);  // also what belongs to another user
  if (has_killed) c.is_beyond_us = false;
  reap();
  if (find(id) != &c) return;  // its exec had failed
  const int alive = tree_.kill_pass(c.who, is_deep(c.passes++) || c.quiet_passes > 0);
  const cgroup* g = has_killed ? cgroup_of(id) : nullptr;
  const bool is_empty = g == nullptr || !is_populated(*g);
  const bool is_quiet = alive == 0 && is_empty && (c.who.leader == 0 || c.is_beyond_us);
  c.quiet_passes = is_quiet ? c.quiet_passes + 1 : 0;
  c.next_step = is_quiet ? now : now + c.pause_ms;
  if (c.quiet_passes >= needed_quiet_passes) finish_ending(c);
}

void session::finish_ending(command& c) {
  buffer names;
  const std::uint32_t count = tree_.survivors(c.who, names);
  buffer payload;
  wire::writer(payload).u32(count).raw(names.view());
  channel_.send(wire::frame_type::tree_ended, c.id, 0, payload.view());
  // What it looked at is not reported again.
  if (cgroup* g = cgroup_of(c.id); g != nullptr && g->is_released) remove_cgroup(*g);
  c.end = ending::none;
  c.flags &= ~static_cast<std::uint32_t>(wire::start_end_leftovers);
  free_if_done(&c);
}

}  // namespace berth::resident
