#include "resident/session.hpp"

#include "resident/ports.hpp"
#include "resident/raw_syscall.hpp"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace berth::resident {

session::session(channel::mode m, int in, int out, surroundings where) : channel_(loop_, this, on_frame) {
  getrlimit64(RLIMIT_NOFILE, &files_);
  const rlimit64 raised{files_.rlim_max - tree::descriptors_kept(files_.rlim_max), files_.rlim_max};
  setrlimit64(RLIMIT_NOFILE, &raised);
  prctl(PR_SET_NAME, "berth-resident");  // it was run by descriptor
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_DUMPABLE, 0);
  // bwrap, which has one thread: what ends it from outside ends the sandbox.
  if (where == surroundings::sandbox) prctl(PR_SET_PDEATHSIG, SIGKILL);

  // Everything is blocked and some are read here: nothing that a command sends can end the resident but KILL.
  // Not by libc, which leaves two of them open.
  const std::uint64_t all = ~std::uint64_t{0};
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, raw_pointer(&all), 0, sizeof all);
  sigset_t read;
  sigemptyset(&read);
  sigaddset(&read, SIGCHLD);
  // How a container is asked to stop; elsewhere a command could send it.
  if (getpid() == 1 && where == surroundings::place) sigaddset(&read, SIGTERM);
  signals_.fd = signalfd(-1, &read, SFD_CLOEXEC | SFD_NONBLOCK);
  signals_.ready = on_signal;
  signals_.owner = this;
  loop_.watch(signals_, EPOLLIN);
  channel_.open(m, in, out);
}

int session::run() {
  while (!leaving_) {
    loop_.run_once(timeout());
    on_time();
    channel_.flush();
    if (!channel_.congested()) {
      if (paused_) resume_streams();
      channel_.resume();
      channel_.flush();
    }
    if (channel_.where() == channel::state::broken) {
      fail(channel_.complaint());
    }
    if (channel_.where() != channel::state::open) leaving_ = true;
  }
  leave();
  return exit_code_;
}

/// The owner is gone, or wants us gone: nothing stays behind.
void session::leave() {
  for (command* c = commands_.first; c != nullptr; c = c->next) {
    if (c->who.leader > 0) ::kill(-c->who.leader, SIGKILL);
  }
  for (cgroup* g = cgroups_.first; g != nullptr; g = g->next) kill_all_in(*g);
  for (int pass = 0;; ++pass) {
    const bool goes_on = tree_.kill_everything(pass % 4 == 0);
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    }
    if (pid < 0 || !goes_on) break;  // ECHILD: nothing is left; or only what belongs to others
    usleep(static_cast<useconds_t>(pass < 20 ? pass : 20) * 1000);
  }
  remove_all_cgroups();
  channel_.flush_last();
}

int session::timeout() const {
  std::int64_t at = channel_.lease_end();
  const auto earlier = [&](std::int64_t t) {
    if (t >= 0 && (at < 0 || t < at)) at = t;
  };
  earlier(channel_.wake_at());
  earlier(greeted_until_);
  earlier(silence_end());
  for (const command* c = commands_.first; c != nullptr; c = c->next) {
    if (c->end != ending::none) earlier(c->next_step);
  }
  if (at < 0) return -1;
  const std::int64_t left = at - now_ms();
  return left < 0 ? 0 : left > 3600000 ? 3600000 : static_cast<int>(left);
}

void session::on_time() {
  const std::int64_t now = now_ms();
  const bool lease_passed = channel_.lease_end() >= 0 && now >= channel_.lease_end();
  const bool too_silent = silence_ms_ >= 0 && now >= silence_end();
  if ((lease_passed || too_silent) && !channel_.has_unread()) leaving_ = true;
  if (greeted_until_ >= 0 && now >= greeted_until_) leaving_ = true;
  // One at a time, as it may free commands, and the one that waited longest; the loop comes back at once for the next.
  command* due = nullptr;
  for (command* c = commands_.first; c != nullptr; c = c->next) {
    if (c->end == ending::none || now < c->next_step) continue;
    if (due == nullptr || c->next_step < due->next_step) due = c;
  }
  if (due != nullptr) continue_ending(*due);
}

void session::on_signal(source& s, std::uint32_t) {
  auto& self = *static_cast<session*>(s.owner);
  signalfd_siginfo info;
  while (read(s.fd, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGTERM) self.leaving_ = true;
  }
  self.reap();
}

void session::on_owner_death(source& s, std::uint32_t) {
  pollfd exited{s.fd, POLLIN, 0};
  if (poll(&exited, 1, 0) == 1) static_cast<session*>(s.owner)->leaving_ = true;
}

void session::reap() {
  int status;
  rusage usage;
  pid_t pid;
  while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
    for (command* c = commands_.first; c != nullptr; c = c->next) {
      if (c->who.leader != pid) continue;
      reap_leader(*c, status, usage);
      break;
    }
  }
}

bool session::on_frame(void* self, const wire::header& h, std::string_view payload) {
  return static_cast<session*>(self)->handle(h, payload);
}

/// False to be asked again later.
bool session::handle(const wire::header& h, std::string_view payload) {
  using wire::frame_type;
  switch (h.type) {
    case frame_type::hello:
      hello(payload);
      return true;
    case frame_type::start:
      if (channel_.congested()) return false;
      start(h.id, payload);
      return true;
    case frame_type::input:
      return input(h.id, payload);
    case frame_type::input_end:
      if (command* c = find(h.id)) {
        c->input_ends = true;
        write_input(*c);
      }
      return true;
    case frame_type::signal:
      signal(h.id, payload);
      return true;
    case frame_type::kill:
      kill(h.id, payload);
      return true;
    case frame_type::resize:
      resize(h.id, payload);
      return true;
    case frame_type::ports:
      ports(h.id);
      return true;
    case frame_type::credit:
      credit(h, payload);
      return true;
    case frame_type::abandon:
      abandon(h);
      return true;
    case frame_type::ping:
      channel_.send(frame_type::pong, 0, 0, payload);
      return true;
    case frame_type::bye:
      leaving_ = true;
      return true;
    default:
      return true;  // frames of the other direction mean nothing here
  }
}

void session::ports(std::uint32_t id) {
  const command* c = find(id);
  membership whose;  // of one that has ended: what it left running
  whose.tag = tree_.tag(id);
  if (c != nullptr) whose = c->who;
  buffer payload;
  put_listening_ports(tree_, whose, payload);
  channel_.send(wire::frame_type::port_list, id, 0, payload.view());
}

void session::fail(std::string_view why) {
  buffer payload;
  wire::writer(payload).bytes(why);
  channel_.send(wire::frame_type::failed, 0, 0, payload.view());
  exit_code_ = 1;
}

void session::hello(std::string_view payload) {
  wire::hello h;
  h.get(payload);
  greeted_until_ = -1;
  if (h.version != wire::version) {
    leaving_ = true;
    return fail("this resident speaks version 1 of the protocol only");
  }
  if ((h.flags & wire::hello_has_owner_pidfd) != 0 && owner_.fd < 0) {
    owner_.fd = channel_.take_fd();
    owner_.ready = on_owner_death;
    owner_.owner = this;
    if (owner_.fd >= 0) loop_.watch(owner_, EPOLLIN);
  }
  channel_.welcome(h, static_cast<std::uint32_t>(getpid()), tree_.nonce());
}

}  // namespace berth::resident
