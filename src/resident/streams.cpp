#include "resident/session.hpp"

#include "resident/terminal.hpp"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

namespace berth::resident {
namespace {

char shared_block[wire::max_data];

void make_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

void session::watch_streams(command& c) {
  for (std::uint32_t i = 0; i < 2; ++i) {
    source& s = c.out[i];
    if (s.fd < 0) continue;
    make_nonblocking(s.fd);
    s.ready = on_output;
    s.owner = &c;
    s.stream = i + 1;
  }
  watch_outputs(c);
  if (c.in.fd >= 0) {
    make_nonblocking(c.in.fd);
    c.in.ready = on_input_ready;
    c.in.owner = &c;
    write_input(c);
  }
}

/// Without credit a stream is not read, and the command has to wait.
void session::watch_outputs(command& c) {
  if (c.starting != nullptr) return;
  for (int i = 0; i < 2; ++i) {
    if (c.out[i].fd >= 0 && (c.credit[i] > 0 || c.discards)) loop_.watch(c.out[i], EPOLLIN);
  }
}

void session::on_output(source& s, std::uint32_t) {
  auto& c = *static_cast<command*>(s.owner);
  session& self = *c.owner;
  std::uint64_t& credit = c.credit[s.stream - 1];
  if (self.channel_.congested() && !c.discards) {
    self.loop_.watch(s, 0);
    self.paused_ = true;
    return;
  }
  const std::size_t most =
      c.discards || credit > sizeof shared_block ? sizeof shared_block : static_cast<std::size_t>(credit);
  const ssize_t n = read(s.fd, shared_block, most);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n > 0 && c.discards) return;
  if (n > 0) {
    self.channel_.send(wire::frame_type::output, c.id, static_cast<std::uint16_t>(s.stream),
                       {shared_block, static_cast<std::size_t>(n)});
    credit -= static_cast<std::uint64_t>(n);
    if (credit == 0) self.loop_.watch(s, 0);
    return;
  }
  self.loop_.close(s);  // of a terminal, read says EIO here, with all that was written before
  if (c.has_terminal() && c.in.fd >= 0) self.close_input(c, true);
  self.channel_.send(wire::frame_type::output_end, c.id, static_cast<std::uint16_t>(s.stream), {});
  self.free_if_done(&c);
}

/// The owner reads again: streams that waited for room in the queue go on.
void session::resume_streams() {
  paused_ = false;
  for (command* c = commands_.first; c != nullptr; c = c->next) watch_outputs(*c);
}

bool session::input(std::uint32_t id, std::string_view payload) {
  command* c = find(id);
  if (c == nullptr || c->in.fd < 0 || c->input_ends) return true;  // it has closed its end meanwhile
  c->input.append(payload.data(), payload.size());
  write_input(*c);
  return true;
}

void session::on_input_ready(source& s, std::uint32_t events) {
  auto& c = *static_cast<command*>(s.owner);
  // A terminal that was hung up takes what it has room for, and then nothing, for ever.
  if ((events & (EPOLLERR | (c.has_terminal() ? EPOLLHUP : 0u))) != 0)
    c.owner->close_input(c, true);  // nobody reads it any more
  else
    c.owner->write_input(c);
}

void session::write_input(command& c) {
  if (c.in.fd < 0 || c.starting != nullptr) return;
  std::uint64_t written = 0;
  while (c.input.size() > 0) {
    const ssize_t n = write(c.in.fd, c.input.view().data(), c.input.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) return close_input(c, true);
    c.input.consume(static_cast<std::size_t>(n));
    written += static_cast<std::uint64_t>(n);
  }
  if (written > 0)
    channel_.send_number(wire::frame_type::credit, c.id, static_cast<std::uint16_t>(wire::stream::in), written);
  if (c.input.size() > 0)
    loop_.watch(c.in, EPOLLOUT);
  else if (c.input_ends && c.has_terminal() && !type_end(c.in.fd))
    loop_.watch(c.in, EPOLLOUT);
  else if (c.input_ends)
    close_input(c, false);
  else
    loop_.watch(c.in, c.has_terminal() ? 0u : EPOLLERR);  // only for the other end's close; a terminal's output tells
}

void session::close_input(command& c, bool tell) {
  loop_.close(c.in);
  c.input.clear();
  if (tell) channel_.send(wire::frame_type::input_closed, c.id, 0, {});
}

void session::resize(std::uint32_t id, std::string_view payload) {
  command* c = find(id);
  wire::resize size;
  if (c != nullptr && c->has_terminal() && c->out[0].fd >= 0 && size.get(payload)) resize_terminal(c->out[0].fd, size);
}

void session::credit(const wire::header& h, std::string_view payload) {
  command* c = find(h.id);
  std::uint64_t more = 0;
  if (c == nullptr || h.stream < 1 || h.stream > 2 || !wire::get_number(payload, more)) return;
  std::uint64_t& credit = c->credit[h.stream - 1];
  credit = more > ~credit ? ~std::uint64_t{0} : credit + more;
  watch_outputs(*c);
}

void session::abandon(const wire::header& h) {
  for (int i = 0; i < h.fds; ++i) {
    const int fd = channel_.take_fd();
    if (fd >= 0) add_drain(fd);
  }
  command* c = find(h.id);
  if (c == nullptr) return;
  c->discards = true;
  watch_outputs(*c);
}

void session::add_drain(int fd) {
  auto* d = make<drain>();
  make_nonblocking(fd);
  d->owner = this;
  d->from.fd = fd;
  d->from.ready = on_drain;
  d->from.owner = d;
  drains_.insert(d);
  loop_.watch(d->from, EPOLLIN);
}

void session::on_drain(source& s, std::uint32_t) {
  auto* d = static_cast<drain*>(s.owner);
  const ssize_t n = read(s.fd, shared_block, sizeof shared_block);
  if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) return;
  d->owner->loop_.close(s);
  d->owner->drains_.remove(d);
  destroy(d);
}

}  // namespace berth::resident
