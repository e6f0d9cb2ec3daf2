#include "resident/channel.hpp"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace berth::resident {
namespace {

constexpr std::size_t read_size = 64 * 1024;
constexpr std::uint64_t ack_every = 64 * 1024;
constexpr std::int64_t longest_hold_ms = 50;
// A hello ends with the token, which is no beginning.
constexpr std::size_t token_in_hello = wire::header_size + wire::hello::size - wire::token_size;

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

void channel::discard(node* n) {
  for (int i = 0; i < n->fd_count; ++i) close_fd(n->fds[i]);
  destroy(n);
}

channel::~channel() {
  for (queue* q : {&out_queue_, &retained_}) {
    while (q->first != nullptr) discard(q->pop());
  }
  while (fd_count_ > 0) ::close(fds_[--fd_count_]);
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

void channel::gone(source& direction, const char* why) {
  loop_.watch(direction, 0);
  if (leased()) return;  // silence is not death: wait for the lease
  state_ = state::ended;
  complaint_ = why;
}

void channel::complain(const char* why) {
  state_ = state::broken;
  complaint_ = why;
}

void channel::can_read(source& s, std::uint32_t events) {
  auto& self = *static_cast<channel*>(s.owner);
  // A hang-up is the owner's death, whatever still lies unread behind frames that wait; under a lease it is not.
  const bool hung_up = self.mode_ == mode::socket && (events & (EPOLLHUP | EPOLLRDHUP)) != 0;
  if (hung_up && !self.leased()) return self.gone(s, "hang-up");
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
  if (n <= 0) return gone(in_, "end of stream");
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
  if (n <= 0) return gone(in_, "end of stream");
  received(static_cast<std::size_t>(n));
}

int channel::take_fd() {
  if (attached_ == 0 || fd_count_ == 0) return -1;
  const int fd = fds_[0];
  --attached_;
  --fd_count_;
  std::memmove(fds_, fds_ + 1, sizeof(int) * static_cast<std::size_t>(fd_count_));
  return fd;
}

void channel::received(std::size_t size) {
  const std::size_t before = input_.size();
  input_.commit(size);
  last_heard_ = now_ms();
  if (leased()) {
    std::size_t from = before < wire::token_size ? 0 : before - (wire::token_size - 1);
    while (begin_again(from)) from = 0;
  }
  resume();
}

/// Looks for the token of a new connection from here on, and starts afresh behind it.
bool channel::begin_again(std::size_t from) {
  const std::string_view token(token_, wire::token_size);
  std::size_t at = input_.view().find(token, from);
  if (greeting_ && at == token_in_hello) at = input_.view().find(token, at + 1);
  if (at == std::string_view::npos) return false;
  // What was whole before the cut counts; the half frame behind it, and frames that still waited, will be sent again.
  const std::size_t left = parse(at);
  input_.consume(left + wire::token_size);
  greeting_ = true;
  return true;
}

/// Bytes at the end that may be the beginning of a token: should a cut have left half a frame before them, they would complete it.
/// They are data after all if nothing follows for a while.
std::size_t channel::held_back() const {
  if (!leased() || now_ms() >= last_heard_ + longest_hold_ms) return 0;
  const std::string_view in = input_.view();
  std::size_t size = in.size() < wire::token_size ? in.size() : wire::token_size - 1;
  while (size > 0 && !in.ends_with(std::string_view(token_, size))) --size;
  return size;
}

void channel::resume() {
  const std::size_t held = held_back();
  held_until_ = held > 0 ? last_heard_ + longest_hold_ms : -1;
  parse(input_.size() - held);
  // While a frame waits, no more of them are let in; a token must always be seen.
  const bool reads = !waits_ || leased();
  if (in_.watched != 0) loop_.watch(in_, reads ? EPOLLIN | EPOLLRDHUP : EPOLLRDHUP);
}

bool channel::has_unread() const {
  pollfd p{in_.fd, POLLIN, 0};
  return !waits_ && in_.watched != 0 && poll(&p, 1, 0) == 1 && (p.revents & POLLIN) != 0;
}

std::int64_t channel::wake_at() const {
  if (congested() || held_until_ < 0) return retry_at_;
  return retry_at_ >= 0 && retry_at_ < held_until_ ? retry_at_ : held_until_;
}

/// A hello, with the token in front of it where the owner wants a lease.
void channel::parse_greeting(std::size_t& limit) {
  wire::header h;
  while (limit >= wire::header_size) {
    char head[wire::header_size];
    std::memcpy(head, input_.view().data(), wire::header_size);
    if (wire::get_header(head, h) && h.type == wire::frame_type::hello) break;
    if (has_token_) return complain("not a hello");
    if (limit < wire::token_size) return;
    std::memcpy(token_, input_.view().data(), wire::token_size);
    has_token_ = true;
    input_.consume(wire::token_size);
    limit -= wire::token_size;
  }
  std::string_view payload;
  if (wire::parse({input_.view().data(), limit}, h, payload) != wire::parse_result::frame) return;
  wire::hello greeting;
  if (!greeting.get(payload) || (has_token_ && std::memcmp(greeting.token, token_, wire::token_size) != 0))
    return complain("not a hello");
  greeting_ = false;
  attached_ = h.fds;
  on_frame_(owner_, h, payload);
  while (attached_ > 0 && fd_count_ > 0) ::close(take_fd());
  input_.consume(wire::header_size + h.size);
  limit -= wire::header_size + h.size;
}

std::size_t channel::parse(std::size_t limit) {
  waits_ = false;
  if (greeting_) parse_greeting(limit);
  while (!greeting_ && state_ == state::open) {
    wire::header h;
    std::string_view payload;
    const wire::parse_result r = wire::parse({input_.view().data(), limit}, h, payload);
    if (r == wire::parse_result::need_more) break;
    if (r == wire::parse_result::broken || h.type == wire::frame_type::hello) {
      complain("a frame that cannot be");
      break;
    }
    attached_ = h.fds;
    if (h.type == wire::frame_type::ack) {
      std::uint64_t offset = 0;
      if (wire::get_number(payload, offset)) drop_acknowledged(offset);
    } else if (!on_frame_(owner_, h, payload)) {
      waits_ = true;
      break;
    }
    limit -= wire::header_size + h.size;
    handled(h);
  }
  return limit;
}

void channel::handled(const wire::header& h) {
  while (attached_ > 0 && fd_count_ > 0) ::close(take_fd());  // those that nobody wanted
  const std::size_t size = wire::header_size + h.size;
  input_.consume(size);
  received_total_ += size;
  if (!leased() || (received_total_ - acknowledged_ < ack_every && h.type != wire::frame_type::ping)) return;
  acknowledged_ = received_total_;
  send_number(wire::frame_type::ack, 0, 0, received_total_);
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
  else if (errno == ETOOMANYREFS || errno == ENOBUFS || errno == ENOMEM) {
    loop_.watch(out_, 0);  // there may be room, but not for this
    retry_at_ = now_ms() + 2;
  } else
    gone(out_, "write failed");
  return false;
}

void channel::sent(node* n) {
  queued_ -= n->size;
  if (leased() && n->end != 0)
    retained_.push(n);
  else
    discard(n);
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
  while (waiting.first != nullptr) {
    node* n = waiting.pop();
    if (n->end != 0)
      enqueue(n);
    else
      destroy(n);  // a welcome to a connection that is gone
  }
  for (node* n = out_queue_.first; n != nullptr; n = n->next) n->sent = 0;
}

void channel::welcome(const wire::hello& h, std::uint32_t pid, std::uint32_t nonce) {
  lease_ms_ = h.lease_ms;
  std::memcpy(token_, h.token, wire::token_size);
  if (leased()) send_again_from(h.received);
  wire::welcome answer;
  answer.pid = pid;
  answer.nonce = nonce;
  answer.attempt = h.attempt;
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
