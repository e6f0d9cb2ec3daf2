#include "resident/session.hpp"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace berth::resident {

session::session(channel::mode m, int in, int out) : channel_(loop_, this, on_frame) {
  getrlimit64(RLIMIT_NOFILE, &files_);
  const rlimit64 raised{files_.rlim_max, files_.rlim_max};
  setrlimit64(RLIMIT_NOFILE, &raised);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_DUMPABLE, 0);

  // Everything is blocked and some are read here: nothing that a command sends can end the resident but KILL.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t read;
  sigemptyset(&read);
  sigaddset(&read, SIGCHLD);
  if (getpid() == 1) sigaddset(&read, SIGTERM);  // how a container is asked to stop; elsewhere a command could send it
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
      channel_.send(wire::frame_type::failed, 0, 0, channel_.complaint());
      exit_code_ = 1;
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
  for (int pause_ms = 0;; pause_ms = pause_ms < 20 ? pause_ms + 1 : 20) {
    const int alive = tree_.kill_everything();
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    }
    if (pid < 0) break;     // ECHILD: nothing left
    if (alive == 0) break;  // what is left belongs to others
    usleep(static_cast<useconds_t>(pause_ms) * 1000);
  }
  channel_.flush_last();
}

int session::timeout() const {
  std::int64_t at = channel_.lease_end();
  const auto earlier = [&](std::int64_t t) {
    if (t >= 0 && (at < 0 || t < at)) at = t;
  };
  earlier(channel_.retry_at());
  for (const command* c = commands_.first; c != nullptr; c = c->next) {
    if (c->end != ending::none) earlier(c->next_step);
  }
  if (at < 0) return -1;
  const std::int64_t left = at - now_ms();
  return left < 0 ? 0 : left > 3600000 ? 3600000 : static_cast<int>(left);
}

void session::on_time() {
  const std::int64_t now = now_ms();
  if (channel_.lease_end() >= 0 && now >= channel_.lease_end()) leaving_ = true;
  for (command* c = commands_.first; c != nullptr; c = c->next) {
    if (c->end == ending::none || now < c->next_step) continue;
    continue_ending(*c);
    return;  // it may have freed commands; the loop comes back at once for the next
  }
}

void session::on_signal(source& s, std::uint32_t) {
  auto& self = *static_cast<session*>(s.owner);
  signalfd_siginfo info;
  while (read(s.fd, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGTERM) self.leaving_ = true;
  }
  self.reap();
}

void session::on_owner_death(source& s, std::uint32_t) { static_cast<session*>(s.owner)->leaving_ = true; }

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

void session::hello(std::string_view payload) {
  wire::hello h;
  h.get(payload);
  if (h.version != wire::version) {
    constexpr std::string_view text = "this resident speaks version 1 of the protocol only";
    channel_.send(wire::frame_type::failed, 0, 0, text);
    leaving_ = true;
    exit_code_ = 1;
    return;
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
