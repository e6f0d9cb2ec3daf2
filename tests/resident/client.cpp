#include "resident/client.hpp"

#include "os/cgroup_place.hpp"
#include "support/cgroups.hpp"
#include "support/proc_scan.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

extern "C" const unsigned char berth_resident_begin[];
extern "C" const unsigned char berth_resident_end[];

namespace berth::test {
namespace {

using clock_type = std::chrono::steady_clock;

/// The embedded program, or the one that BERTH_TEST_RESIDENT names (a sanitized build, say).
int program() {
  static const int fd = [] {
    if (const char* path = std::getenv("BERTH_TEST_RESIDENT")) return open(path, O_RDONLY | O_CLOEXEC);
    const int memory = memfd_create("berth-resident", MFD_CLOEXEC);
    const char* at = reinterpret_cast<const char*>(berth_resident_begin);
    const char* end = reinterpret_cast<const char*>(berth_resident_end);
    while (at < end) at += write(memory, at, static_cast<std::size_t>(end - at));
    // A file that is open for writing cannot be run.
    const std::string path = "/proc/self/fd/" + std::to_string(memory);
    const int readable = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    close(memory);
    return readable;
  }();
  return fd;
}

[[noreturn]] void become_resident(const resident_options& options, int to, int from) {
  const int given = fcntl(to, F_DUPFD, 100);
  const int answers = fcntl(from, F_DUPFD, 100);
  if (options.over == transport::pipes) {
    dup2(given, 0);
    dup2(answers, 1);
  }
  if (options.before_exec) options.before_exec();
  char name[] = "berth-resident", socket_word[] = "socket", stdio_word[] = "stdio";
  std::string number = std::to_string(given);
  char* socket_argv[] = {name, socket_word, number.data(), nullptr};
  char* stdio_argv[] = {name, stdio_word, nullptr};
  syscall(SYS_execveat, program(), "", options.over == transport::socket ? socket_argv : stdio_argv, environ,
          AT_EMPTY_PATH);
  _exit(126);
}

int left_of(clock_type::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - clock_type::now()).count();
  return left < 0 ? 0 : static_cast<int>(left);
}

}  // namespace

std::uint64_t frame::number() const {
  std::uint64_t n = 0;
  CHECK(wire::get_number(payload, n));
  return n;
}

client::client(resident_options options) {
  program();
  int down[2] = {-1, -1};
  int up[2] = {-1, -1};
  if (options.over == transport::socket) {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, down) == 0);
    std::swap(down[0], down[1]);
  } else {
    REQUIRE(pipe2(down, O_CLOEXEC) == 0);
    REQUIRE(pipe2(up, O_CLOEXEC) == 0);
  }
  to_.reset(down[1]);
  from_.reset(up[0]);
  const unique_fd theirs(down[0]);
  const unique_fd theirs_up(up[1]);
  pid_ = fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) become_resident(options, theirs.get(), theirs_up.get());
  if (options.greet) greet();
}

client::~client() {
  if (greeting_.lease_ms != 0 && to_ && !has_ended(milliseconds(0))) say_bye();
  hang_up();
  if (pid_ > 0 && !has_ended(patience)) {
    FAIL_CHECK("the resident lives on: " << describe({pid_}));
    kill(pid_, SIGKILL);
    has_ended(patience);
  }
  if (nonce_ == 0) return;
  CHECK_MESSAGE(becomes([&] { return tagged(nonce_).empty(); }), "processes of the resident live on");
  for (const pid_t left : tagged(nonce_)) kill(left, SIGKILL);
  const std::string prefix = cgroup_prefix(static_cast<std::uint32_t>(pid_), nonce_);
  for (const std::string& left : cgroups_with(prefix)) FAIL_CHECK("left: " << left);
  if (!cgroups_with(prefix).empty()) sweep_cgroups(cgroup_ground(), prefix, milliseconds(2000));
}

void client::say_bye() {
  try {
    send_raw(greeting_bytes(greeting_) + frame_bytes(wire::frame_type::bye, 0, 0, {}));
  } catch (const std::runtime_error&) {  // it is ending already
  }
}

void client::hang_up() {
  to_.reset();
  from_.reset();
}

wire::welcome client::greet(const wire::hello& h, std::initializer_list<int> fds) {
  greeting_ = h;
  send_raw(greeting_bytes(h, static_cast<std::uint8_t>(fds.size())), fds);
  if (h.lease_ms != 0) {
    const auto deadline = clock_type::now() + patience;
    const std::string_view token(h.token, wire::token_size);
    while (bytes_.find(token) == std::string::npos && receive(milliseconds(left_of(deadline)))) continue;
    REQUIRE(bytes_.find(token) != std::string::npos);
    bytes_.erase(0, bytes_.find(token) + wire::token_size);
  }
  const frame answer = expect(wire::frame_type::welcome);
  wire::welcome w;
  REQUIRE(w.get(answer.payload));
  nonce_ = w.nonce;
  return w;
}

void client::send_raw(std::string_view bytes, std::initializer_list<int> fds) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 8)] = {};
  bool with_fds = fds.size() > 0;
  while (!bytes.empty()) {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr m{};
    m.msg_iov = &part;
    m.msg_iovlen = 1;
    if (with_fds) {
      m.msg_control = control;
      m.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
      cmsghdr* c = CMSG_FIRSTHDR(&m);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
      std::memcpy(CMSG_DATA(c), fds.begin(), sizeof(int) * fds.size());
    }
    const ssize_t n = from_ ? write(to(), bytes.data(), bytes.size()) : sendmsg(to(), &m, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw std::runtime_error(std::string("the resident takes no bytes: ") + std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(n));
    with_fds = false;
  }
}

void client::send(wire::frame_type type, std::uint32_t id, std::string_view payload, std::uint16_t stream,
                  std::initializer_list<int> fds) {
  send_raw(frame_bytes(type, id, stream, payload, static_cast<std::uint8_t>(fds.size())), fds);
}

void client::send_number(wire::frame_type type, std::uint32_t id, std::uint64_t n, std::uint16_t stream) {
  send(type, id, number_bytes(n), stream);
}

pid_t client::run(std::uint32_t id, const start_request& request) {
  start(id, request);
  return static_cast<pid_t>(expect(wire::frame_type::started, id).number());
}

bool client::receive(milliseconds time) {
  pollfd p{from(), POLLIN, 0};
  if (poll(&p, 1, static_cast<int>(time.count())) <= 0) return false;
  static char block[256 * 1024];
  if (from_) {
    const ssize_t n = read(from(), block, sizeof block);
    if (n > 0) bytes_.append(block, static_cast<std::size_t>(n));
    return n > 0;
  }
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 8)];
  iovec part{block, sizeof block};
  msghdr m{};
  m.msg_iov = &part;
  m.msg_iovlen = 1;
  m.msg_control = control;
  m.msg_controllen = sizeof control;
  const ssize_t n = recvmsg(from(), &m, MSG_CMSG_CLOEXEC);
  if (n <= 0) return false;
  for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= c->cmsg_len; at += sizeof(int)) {
      int fd;
      std::memcpy(&fd, reinterpret_cast<const char*>(c) + at, sizeof fd);
      fds_.emplace_back(fd);
    }
  }
  bytes_.append(block, static_cast<std::size_t>(n));
  return true;
}

std::optional<frame> client::take() {
  frame f;
  std::string_view payload;
  if (wire::parse(bytes_, f.head, payload) != wire::parse_result::frame) return {};
  f.payload = payload;
  bytes_.erase(0, wire::header_size + payload.size());
  for (int i = 0; i < f.head.fds && !fds_.empty(); ++i) {
    f.fds.push_back(std::move(fds_.front()));
    fds_.pop_front();
  }
  return f;
}

std::optional<frame> client::next(milliseconds time) {
  if (!kept_.empty()) {
    frame f = std::move(kept_.front());
    kept_.pop_front();
    return f;
  }
  const auto deadline = clock_type::now() + time;
  while (true) {
    if (auto f = take()) return f;
    if (!receive(milliseconds(left_of(deadline)))) return {};
  }
}

frame client::expect(wire::frame_type type, std::uint32_t id, milliseconds time) {
  for (auto at = kept_.begin(); at != kept_.end(); ++at) {
    if (at->type() != type || at->head.id != id) continue;
    frame f = std::move(*at);
    kept_.erase(at);
    return f;
  }
  const auto deadline = clock_type::now() + time;
  while (true) {
    while (auto f = take()) {
      if (f->type() == type && f->head.id == id) return std::move(*f);
      const bool is_hopeless = f->type() == wire::frame_type::start_failed && f->head.id == id;
      kept_.push_back(std::move(*f));
      if (is_hopeless) throw std::runtime_error("it did not start");
    }
    if (receive(milliseconds(left_of(deadline)))) continue;
    std::string others;
    for (const frame& f : kept_) others += " " + std::to_string(static_cast<int>(f.type()));
    throw std::runtime_error("no frame " + std::to_string(static_cast<int>(type)) + " for " + std::to_string(id) +
                             "; others:" + others);
  }
}

bool client::stays_silent(wire::frame_type type, std::uint32_t id, milliseconds time) {
  try {
    expect(type, id, time);
    return false;
  } catch (const std::runtime_error&) {
    return true;
  }
}

wire::exited client::expect_exit(std::uint32_t id) {
  wire::exited e;
  CHECK(e.get(expect(wire::frame_type::exited, id).payload));
  return e;
}

wire::start_failed client::expect_failure(std::uint32_t id) {
  wire::start_failed f;
  CHECK(f.get(expect(wire::frame_type::start_failed, id).payload));
  return f;
}

std::string client::output(std::uint32_t id, wire::stream s, std::string_view until) {
  std::string text;
  std::deque<frame> others;
  const auto number = static_cast<std::uint16_t>(s);
  while (until.empty() || text.find(until) == std::string::npos) {
    auto f = next();
    if (!f) throw std::runtime_error("the output does not end; so far: " + text.substr(0, 1000));
    const bool is_ours = f->head.id == id && f->head.stream == number;
    if (is_ours && f->type() == wire::frame_type::output_end) break;
    if (is_ours && f->type() == wire::frame_type::output) {
      text += f->payload;
      send_number(wire::frame_type::credit, id, f->payload.size(), number);
    } else {
      others.push_back(std::move(*f));
    }
  }
  for (auto at = others.rbegin(); at != others.rend(); ++at) kept_.push_front(std::move(*at));
  return text;
}

std::string client::raw_bytes(milliseconds time) {
  const auto deadline = clock_type::now() + time;
  while (receive(milliseconds(left_of(deadline)))) continue;
  return std::exchange(bytes_, {});
}

bool client::has_ended(milliseconds time) {
  return becomes(
      [&] {
        int status = 0;
        if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
        return status_.has_value();
      },
      time);
}

int client::wait_end(milliseconds time) {
  REQUIRE_MESSAGE(has_ended(time), "the resident does not end");
  return *status_;
}

}  // namespace berth::test
