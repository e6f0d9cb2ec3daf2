// The resident's end of a connection: arbitrary bytes, in arbitrary pieces, plain and under a lease. The input is a script:
// each piece is one byte of what to do, two of how much, then bytes; some pieces are whole frames, so that much gets through.
#include "resident/channel.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace berth;
using resident::channel;

constexpr std::string_view token = "0123456789ABCDEF";

struct owner {
  channel* to = nullptr;
  unsigned frames = 0;
  std::uint8_t refuses = 0;  ///< every so many frames one is left for later
};

bool on_frame(void* self, const wire::header& h, std::string_view payload) {
  auto& o = *static_cast<owner*>(self);
  if (h.size != payload.size() || h.fds > wire::max_fds) std::abort();
  if (h.type == wire::frame_type::hello) {
    wire::hello greeting;
    if (!greeting.get(payload)) std::abort();
    o.to->welcome(greeting, 1, 2);
    return true;
  }
  if (o.refuses != 0 && ++o.frames % o.refuses == 0) return false;
  if (h.type == wire::frame_type::ping) o.to->send(wire::frame_type::pong, 0, 0, payload);
  if (h.type == wire::frame_type::input) o.to->send(wire::frame_type::output, h.id, 1, payload);
  if (h.type == wire::frame_type::abandon) ::close(o.to->take_fd());
  return true;
}

std::string frame_bytes(wire::frame_type type, std::string_view payload, std::uint8_t fds = 0) {
  char head[wire::header_size];
  wire::put_header({static_cast<std::uint32_t>(payload.size()), type, fds, 0, 1}, head);
  return std::string(head, sizeof head).append(payload);
}

std::string greeting(std::uint32_t lease_ms, std::uint64_t received) {
  wire::hello h;
  h.lease_ms = lease_ms;
  h.received = received;
  std::copy(token.begin(), token.end(), h.token);
  std::string payload;
  h.put(payload);
  return (lease_ms != 0 ? std::string(token) : std::string()) + frame_bytes(wire::frame_type::hello, payload);
}

std::string number(wire::frame_type type, std::uint64_t n) {
  std::string payload;
  wire::put_number(payload, n);
  return frame_bytes(type, payload);
}

std::string piece(std::uint8_t kind, std::uint16_t amount, std::string_view raw) {
  switch (kind % 8) {
    case 0:
      return greeting(60000, amount);
    case 1:
      return number(wire::frame_type::ping, amount);
    case 2:
      return number(wire::frame_type::ack, amount);
    case 3:
      return frame_bytes(wire::frame_type::input, std::string(amount, 'x'));
    case 4:
      return std::string(token.substr(0, amount % 17));
    case 5:
      return frame_bytes(wire::frame_type::abandon, {}, static_cast<std::uint8_t>(amount % 4));
    default:
      return std::string(raw);
  }
}

void send_with_fd(int fd, std::string_view bytes, bool with_fd) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec io{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr m{};
  m.msg_iov = &io;
  m.msg_iovlen = 1;
  if (with_fd) {
    m.msg_control = control;
    m.msg_controllen = sizeof control;
    cmsghdr* c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::copy_n(reinterpret_cast<const char*>(&fd), sizeof fd, reinterpret_cast<char*>(CMSG_DATA(c)));
  }
  if (sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return;
}

/// As the session turns: what is ready, then what may go on.
void turn(resident::loop& l, channel& c) {
  l.run_once(0);
  c.flush();
  if (!c.congested()) c.resume();
  c.flush();
}

void drain(int fd) {
  static char block[65536];
  while (recv(fd, block, sizeof block, MSG_DONTWAIT) > 0) continue;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  signal(SIGPIPE, SIG_IGN);  // the resident blocks it
  const std::uint8_t how = data[0];
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 0;
  const int out = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
  fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);  // of both descriptors
  {
    resident::loop l;
    owner o;
    channel c(l, &o, on_frame);
    o.to = &c;
    o.refuses = static_cast<std::uint8_t>((how >> 2) % 8);
    c.open((how & 1) != 0 ? channel::mode::stdio : channel::mode::socket, ends[1], out);
    if ((how & 64) == 0) send_with_fd(ends[0], greeting((how & 2) != 0 ? 60000 : 0, 0), false);
    turn(l, c);
    for (std::size_t at = 1; at + 3 <= size && c.where() == channel::state::open;) {
      const std::uint8_t kind = data[at];
      const auto amount = static_cast<std::uint16_t>(data[at + 1] | data[at + 2] << 8);
      at += 3;
      const std::size_t raw = kind % 8 >= 6 ? std::min<std::size_t>(amount, size - at) : 0;
      send_with_fd(ends[0], piece(kind, amount, {reinterpret_cast<const char*>(data) + at, raw}), (kind & 16) != 0);
      at += raw;
      turn(l, c);
      if ((kind & 8) != 0) drain(ends[0]);
    }
    if (c.where() == channel::state::broken && c.complaint() == nullptr) std::abort();
    ::close(ends[0]);
    turn(l, c);
  }
  ::close(ends[1]);
  ::close(out);
  return 0;
}
