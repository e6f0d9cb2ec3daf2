#include "resident/channel.hpp"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace berth::resident {
namespace {

constexpr std::size_t read_size = 64 * 1024;
constexpr std::uint64_t ack_every = 64 * 1024;

bool is_counted(wire::frame_type t) { return t != wire::frame_type::hello && t != wire::frame_type::welcome; }

}  // namespace

void channel::queue::push(node* n) {
  n->next = nullptr;
  (last != nullptr ? last->next : first) = n;
  last = n;
}

channel::node* channel::queue::pop() {
  node* n = first;
  first = n->next;
  if (first == nullptr) last = nullptr;
  return n;
}

void channel::open(mode m, int in, int out) {
  mode_ = m;
  in_.fd = in;
  in_.ready = can_read;
  in_.owner = this;
  out_.fd = out;
  out_.ready = can_write;
  out_.owner = this;
  last_heard_ = now_ms();
  loop_.watch(in_, EPOLLIN | EPOLLRDHUP);
}

void channel::gone(const char* why) {
  loop_.watch(in_, 0);
  loop_.watch(out_, 0);
  if (leased()) return;  // silence is not death: wait for the lease
  state_ = state::ended;
  complaint_ = why;
}

void channel::can_read(source& s, std::uint32_t events) {
  auto& self = *static_cast<channel*>(s.owner);
  // A hang-up is the owner's death, whatever still lies unread behind frames that wait.
  if (self.mode_ == mode::socket && (events & (EPOLLHUP | EPOLLRDHUP)) != 0) return self.gone("hang-up");
  if (self.mode_ == mode::socket)
    self.read_socket();
  else
    self.read_pipe();
}

void channel::read_socket() {
  iovec io{input_.reserve(read_size), read_size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * wire::max_fds)];
  msghdr m{};
  m.msg_iov = &io;
  m.msg_iovlen = 1;
  m.msg_control = control;
  m.msg_controllen = sizeof control;
  const ssize_t n = recvmsg(in_.fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return gone("end of stream");
  for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      if (fd_count_ < 16)
        fds_[fd_count_++] = fd;
      else
        ::close(fd);
    }
  }
  received(static_cast<std::size_t>(n));
}

void channel::read_pipe() {
  const ssize_t n = read(in_.fd, input_.reserve(read_size), read_size);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return gone("end of stream");
  received(static_cast<std::size_t>(n));
}

int channel::take_fd() {
  if (fd_count_ == 0) return -1;
  const int fd = fds_[0];
  --fd_count_;
  std::memmove(fds_, fds_ + 1, sizeof(int) * static_cast<std::size_t>(fd_count_));
  return fd;
}

void channel::received(std::size_t size) {
  const std::size_t before = input_.size();
  input_.commit(size);
  last_heard_ = now_ms();
  if (leased()) look_for_token(before);
  parse();
}

void channel::look_for_token(std::size_t looked_at) {
  const std::string_view all = input_.view();
  const std::size_t from = looked_at < wire::token_size ? 0 : looked_at - (wire::token_size - 1);
  const std::size_t at = all.find(std::string_view(token_, wire::token_size), from);
  if (at == std::string_view::npos) return;
  // What was whole before the cut counts; the half frame behind it, and frames that still waited, will be sent again.
  const std::size_t left = parse_within(at);
  input_.consume(left + wire::token_size);
  greeting_ = true;
}

void channel::parse() {
  if (greeting_ && !parse_greeting()) return;
  parse_within(input_.size());
}

/// A hello, with the token in front of it where the owner wants a lease.
bool channel::parse_greeting() {
  wire::header h;
  std::string_view payload;
  const auto is_hello = [&](std::string_view in) {
    const wire::parse_result r = wire::parse(in, h, payload);
    return r == wire::parse_result::need_more                                    ? 0
           : r == wire::parse_result::frame && h.type == wire::frame_type::hello ? 1
                                                                                 : -1;
  };
  int found = is_hello(input_.view());
  if (found < 0 && !has_token_) {
    if (input_.size() < wire::token_size + wire::header_size) return false;
    std::memcpy(token_, input_.view().data(), wire::token_size);
    has_token_ = true;
    input_.consume(wire::token_size);
    found = is_hello(input_.view());
  }
  if (found == 0) return false;
  wire::hello greeting;
  if (found < 0 || !greeting.get(payload) ||
      (has_token_ && std::memcmp(greeting.token, token_, wire::token_size) != 0)) {
    state_ = state::broken;
    complaint_ = "not a hello";
    return false;
  }
  greeting_ = false;
  on_frame_(owner_, h, payload);
  input_.consume(wire::header_size + h.size);
  return true;
}

std::size_t channel::parse_within(std::size_t limit) {
  while (state_ == state::open) {
    wire::header h;
    std::string_view payload;
    const wire::parse_result r = wire::parse({input_.view().data(), limit}, h, payload);
    if (r == wire::parse_result::need_more) break;
    if (r == wire::parse_result::broken || h.type == wire::frame_type::hello) {
      state_ = state::broken;
      complaint_ = "a frame that cannot be";
      break;
    }
    if (h.type == wire::frame_type::ack) {
      std::uint64_t offset = 0;
      if (wire::get_number(payload, offset)) drop_acknowledged(offset);
    } else if (!on_frame_(owner_, h, payload)) {
      break;
    }
    const std::size_t size = wire::header_size + h.size;
    input_.consume(size);
    limit -= size;
    received_total_ += size;
    if (leased() && (received_total_ - acknowledged_ >= ack_every || h.type == wire::frame_type::ping)) {
      acknowledged_ = received_total_;
      send_number(wire::frame_type::ack, 0, 0, received_total_);
    }
  }
  return limit;
}

channel::node* channel::make_node(std::size_t size) {
  node* n = new (allocate(sizeof(node) + size)) node;
  n->size = static_cast<std::uint32_t>(size);
  return n;
}

void channel::enqueue(node* n) {
  out_queue_.push(n);
  queued_ += n->size;
}

void channel::send(wire::frame_type type, std::uint32_t id, std::uint16_t stream, std::string_view payload,
                   const int* fds, std::uint8_t fd_count) {
  node* n = make_node(wire::header_size + payload.size());
  char head[wire::header_size];
  wire::put_header({static_cast<std::uint32_t>(payload.size()), type, fd_count, stream, id}, head);
  std::memcpy(n->data(), head, wire::header_size);
  if (!payload.empty()) std::memcpy(n->data() + wire::header_size, payload.data(), payload.size());
  n->fd_count = fd_count;
  for (int i = 0; i < fd_count; ++i) n->fds[i] = fds[i];
  if (is_counted(type)) n->end = sent_total_ += n->size;
  enqueue(n);
}

void channel::send_number(wire::frame_type type, std::uint32_t id, std::uint16_t stream, std::uint64_t n) {
  struct sink {
    char bytes[8];
    std::size_t size = 0;
    void append(const char* data, std::size_t count) {
      std::memcpy(bytes + size, data, count);
      size += count;
    }
  } to;
  wire::put_number(to, n);
  send(type, id, stream, {to.bytes, to.size});
}

/// False when it cannot go on now.
bool channel::send_some(node& n) {
  iovec io{n.data() + n.sent, n.size - n.sent};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * wire::max_fds)] = {};
  msghdr m{};
  m.msg_iov = &io;
  m.msg_iovlen = 1;
  if (n.fd_count > 0 && n.sent == 0) {
    m.msg_control = control;
    m.msg_controllen = CMSG_SPACE(sizeof(int) * n.fd_count);
    cmsghdr* c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * n.fd_count);
    std::memcpy(CMSG_DATA(c), n.fds, sizeof(int) * n.fd_count);
  }
  const ssize_t done = mode_ == mode::socket ? sendmsg(out_.fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL)
                                             : write(out_.fd, io.iov_base, io.iov_len);
  if (done >= 0) {
    n.sent += static_cast<std::uint32_t>(done);
    return true;
  }
  if (errno == EINTR) return true;
  if (errno == EAGAIN)
    loop_.watch(out_, EPOLLOUT);
  else if (errno == ETOOMANYREFS || errno == ENOBUFS || errno == ENOMEM)
    retry_at_ = now_ms() + 2;
  else
    gone("write failed");
  return false;
}

void channel::sent(node* n) {
  queued_ -= n->size;
  for (int i = 0; i < n->fd_count; ++i) close_fd(n->fds[i]);
  if (leased() && n->end != 0)
    retained_.push(n);
  else
    destroy(n);
}

void channel::flush() {
  retry_at_ = -1;
  while (out_queue_.first != nullptr && state_ == state::open) {
    node& n = *out_queue_.first;
    if (!send_some(n)) return;
    if (n.sent == n.size) sent(out_queue_.pop());
  }
  loop_.watch(out_, 0);
}

void channel::can_write(source& s, std::uint32_t) { static_cast<channel*>(s.owner)->flush(); }

void channel::flush_last() {
  const std::int64_t until = now_ms() + 200;
  if (state_ == state::broken) state_ = state::open;
  for (flush(); out_queue_.first != nullptr && state_ == state::open && now_ms() < until; flush()) {
    pollfd p{out_.fd, POLLOUT, 0};
    poll(&p, 1, 20);
  }
}

void channel::drop_acknowledged(std::uint64_t offset) {
  while (retained_.first != nullptr && retained_.first->end <= offset) destroy(retained_.pop());
}

void channel::send_again_from(std::uint64_t offset) {
  drop_acknowledged(offset);
  queue waiting = out_queue_;
  out_queue_ = {};
  queued_ = 0;
  while (retained_.first != nullptr) enqueue(retained_.pop());
  while (waiting.first != nullptr) enqueue(waiting.pop());
  for (node* n = out_queue_.first; n != nullptr; n = n->next) n->sent = 0;
}

void channel::welcome(const wire::hello& h, std::uint32_t pid, std::uint32_t nonce) {
  lease_ms_ = h.lease_ms;
  std::memcpy(token_, h.token, wire::token_size);
  if (leased()) send_again_from(h.received);
  wire::welcome answer;
  answer.pid = pid;
  answer.nonce = nonce;
  answer.received = received_total_;
  std::memcpy(answer.token, token_, wire::token_size);
  buffer payload;
  answer.put(payload);
  buffer bytes;
  if (leased()) bytes.append(token_, wire::token_size);
  char head[wire::header_size];
  wire::put_header({static_cast<std::uint32_t>(payload.size()), wire::frame_type::welcome, 0, 0, 0}, head);
  bytes.append(head, wire::header_size);
  bytes.append(payload.view().data(), payload.size());
  node* n = make_node(bytes.size());
  std::memcpy(n->data(), bytes.view().data(), bytes.size());
  n->next = out_queue_.first;  // before everything else
  out_queue_.first = n;
  if (out_queue_.last == nullptr) out_queue_.last = n;
  queued_ += n->size;
  loop_.watch(in_, EPOLLIN | EPOLLRDHUP);
}

}  // namespace berth::resident
