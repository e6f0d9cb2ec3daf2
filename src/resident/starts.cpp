#include "resident/session.hpp"
#include "resident/terminal.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace berth::resident {

command* session::find(std::uint32_t id) {
  for (command* c = commands_.first; c != nullptr; c = c->next) {
    if (c->id == id) return c;
  }
  return nullptr;
}

void session::start_failed(std::uint32_t id, wire::start_step step, int error, std::uint32_t detail) {
  const wire::start_failed f{step, static_cast<std::uint32_t>(error), detail};
  buffer payload;
  f.put(payload);
  channel_.send(wire::frame_type::start_failed, id, 0, payload.view());
}

namespace {

/// Pipes: the command's ends into `l`, the owner's into `owners`.
bool make_pipes(const command& c, launch& l, int (&owners)[3]) {
  const bool merged = (c.flags & wire::start_merge_stderr) != 0;
  int pair[2];
  if ((c.flags & wire::start_input_pipe) == 0) {
    l.std_in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (l.std_in < 0) return false;
  } else {
    if (pipe2(pair, O_CLOEXEC) != 0) return false;
    l.std_in = pair[0];
    owners[0] = pair[1];
  }
  if (pipe2(pair, O_CLOEXEC) != 0) return false;
  l.std_out = pair[1];
  owners[1] = pair[0];
  if (!merged && pipe2(pair, O_CLOEXEC) != 0) return false;
  l.std_err = merged ? l.std_out : pair[1];
  if (!merged) owners[2] = pair[0];
  return true;
}

/// A terminal: its slave for the command, the master for the owner; where frames carry its bytes, once for each direction.
bool make_terminal(command& c, launch& l, const wire::start& request, int (&owners)[3]) {
  if (!open_terminal({request.columns, request.rows}, owners[1], c.slave)) return false;
  l.std_in = l.std_out = l.std_err = c.slave;
  if ((c.flags & wire::start_input_pipe) == 0)
    type_end(owners[1]);
  else if ((c.flags & wire::start_hand_over) == 0)
    owners[0] = fcntl(owners[1], F_DUPFD_CLOEXEC, 3);
  return owners[0] >= 0 || (c.flags & (wire::start_input_pipe | wire::start_hand_over)) != wire::start_input_pipe;
}

/// The command's ends, where it has them now: closed here, but not touched in `l`, which the child may be reading.
void close_ends(const command& c, const launch& l) {
  if (c.slave < 0) {
    for (const int fd : {l.std_in, l.std_out, l.std_err == l.std_out ? -1 : l.std_err}) {
      if (fd >= 0) close(fd);
    }
  }
  if (l.report >= 0) close(l.report);
  if (l.cgroup >= 0) close(l.cgroup);
}

}  // namespace

/// Makes the streams and the report pipe. The step that failed, with errno, or none (0).
wire::start_step session::make_streams(command& c, launch& l, const wire::start& request, int (&owners)[3]) {
  int report[2];
  if (pipe2(report, O_CLOEXEC | O_NONBLOCK) != 0) return wire::start_step::resources;
  c.report.fd = report[0];
  c.report.ready = on_report;
  c.report.owner = &c;
  l.report = report[1];
  if (!c.has_terminal()) return make_pipes(c, l, owners) ? wire::start_step{} : wire::start_step::resources;
  return make_terminal(c, l, request, owners) ? wire::start_step{} : wire::start_step::terminal;
}

/// Lets the child go. 0, or the errno.
int session::launch_child(command& c, launch& l) {
  l.tag = c.who.tag;
  l.tag_hard = tree_.hard_limit(c.id);
  l.open_files = files_.rlim_cur;
  l.open_files_hard = files_.rlim_max;
  const pid_t pid = l.go();
  if (pid < 0) return -pid;
  // A session number that this pid had before means ours from now on.
  for (command* other = commands_.first; other != nullptr; other = other->next) {
    if (other->who.session == pid) other->who.session = 0;
  }
  c.who.leader = c.who.session = pid;
  return 0;
}

void session::start(std::uint32_t id, std::string_view payload) {
  wire::reader fields(payload);
  wire::start request;
  const bool is_whole = request.get(fields);
  launch* l = is_whole ? launch::make(request, fields, environ) : nullptr;
  // Descriptors can be handed over where there is a socket to do it.
  const bool hands_over = (request.flags & wire::start_hand_over) != 0;
  const bool has_size = wire::resize{request.columns, request.rows}.fits();
  if (l == nullptr || !has_size || (hands_over && !channel_.passes_fds())) {
    if (l != nullptr) launch::destroy(l);
    return start_failed(id, wire::start_step::request, EINVAL);
  }
  command& c = *make<command>();
  c.owner = this;
  c.id = id;
  c.flags = request.flags;
  c.grace_ms = request.grace_ms;
  c.credit[0] = c.credit[1] = request.credit;
  c.who.tag = tree_.tag(id);
  c.oom_kills = memory_.kills();

  int owners[3] = {-1, -1, -1};
  wire::start_step failed = make_streams(c, *l, request, owners);
  if (failed == wire::start_step{} && !open_cgroup(c, *l, request)) failed = wire::start_step::cgroup;
  const bool is_ready = failed == wire::start_step{};
  const int error = is_ready ? launch_child(c, *l) : errno;
  close_ends(c, *l);
  if (error != 0) {
    for (int* fd : {&owners[0], &owners[1], &owners[2], &c.report.fd, &c.slave}) close_fd(*fd);
    launch::destroy(l);
    destroy(&c);
    release_cgroup(id);
    return start_failed(id, is_ready ? wire::start_step::clone : failed, error);
  }
  c.starting = l;
  for (int i = 0; i < 3; ++i) {
    if (!hands_over)
      (i == 0 ? c.in : c.out[i - 1]).fd = owners[i];
    else if (owners[i] >= 0)
      c.handed[c.handed_count++] = owners[i];
  }
  loop_.watch(c.report, EPOLLIN);
  commands_.insert(&c);
}

void session::on_report(source& s, std::uint32_t) {
  auto& c = *static_cast<command*>(s.owner);
  c.owner->finish_start(c);
}

/// The report pipe has spoken: a failed step, and by its end that the child has left our memory, through exec or exit.
void session::finish_start(command& c) {
  std::uint32_t words[3];
  const ssize_t n = read(c.report.fd, words, sizeof words);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n == sizeof words) {
    c.failed_step = words[0];
    c.failed_error = static_cast<int>(words[1]);
    c.failed_detail = words[2];
    return finish_start(c);
  }
  loop_.close(c.report);
  launch::destroy(c.starting);
  c.starting = nullptr;
  if (c.failed_step != 0) {
    for (int& fd : c.handed) close_fd(fd);
    for (source* s : {&c.in, &c.out[0], &c.out[1]}) close_fd(s->fd);
    close_fd(c.slave);
    start_failed(c.id, static_cast<wire::start_step>(c.failed_step), c.failed_error, c.failed_detail);
    release_cgroup(c.id);
    commands_.remove(&c);  // its child ends by itself and is reaped as nobody's
    destroy(&c);
    return;
  }
  buffer pid;
  wire::put_number(pid, static_cast<std::uint64_t>(c.who.session));
  channel_.send(wire::frame_type::started, c.id, 0, pid.view(), c.handed, c.handed_count);
  c.handed_count = 0;
  watch_streams(c);
  // Not before exec: while the child shares our memory it would be said of us too.
  if (shares_memory_ && c.who.leader > 0) offer_to_oom_killer(c.who.leader);
}

void session::reap_leader(command& c, int wait_status, const rusage& usage) {
  const std::uint32_t id = c.id;
  if (c.starting != nullptr) finish_start(c);
  if (find(id) != &c) return;  // it never ran
  c.who.leader = 0;
  c.exited = true;
  close_fd(c.slave);
  wire::exited e;
  e.wait_status = static_cast<std::uint32_t>(wait_status);
  e.user_us =
      static_cast<std::uint64_t>(usage.ru_utime.tv_sec) * 1000000 + static_cast<std::uint64_t>(usage.ru_utime.tv_usec);
  e.system_us =
      static_cast<std::uint64_t>(usage.ru_stime.tv_sec) * 1000000 + static_cast<std::uint64_t>(usage.ru_stime.tv_usec);
  e.max_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  if (const cgroup* g = cgroup_of(id)) e.cgroup_events = events_of(*g);
  if (c.end == ending::none && memory_.claim(c.oom_kills, wait_status)) e.cgroup_events |= wire::cgroup_oom_kill;
  buffer payload;
  e.put(payload);
  channel_.send(wire::frame_type::exited, id, 0, payload.view());
  release_cgroup(id);
  if ((c.flags & wire::start_end_leftovers) != 0 && c.end == ending::none)
    begin_ending(c, c.grace_ms);
  else if (c.end != ending::none)
    c.next_step = now_ms();
  free_if_done(&c);
}

void session::free_if_done(command* c) {
  if (c->starting != nullptr || !c->exited || c->end != ending::none || c->has_streams()) return;
  loop_.close(c->in);
  commands_.remove(c);
  destroy(c);
}

}  // namespace berth::resident
