/// The link under a lease, against the real resident over two pipes whose connection is cut on the way.
#include "host/host_world.hpp"

#include "berth/error.hpp"
#include "context/resident_link.hpp"
#include "host/resident_launch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace berth::test {
namespace {

struct pipe_pair {
  pipe_pair() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    reading.reset(ends[0]);
    writing.reset(ends[1]);
  }
  unique_fd reading;
  unique_fd writing;
};

/// A resident that speaks over its standard streams, and the pipes that stay with it across connections.
struct stdio_resident {
  stdio_resident() {
    pipe_pair in;
    pipe_pair out;
    helper_options options;
    options.argv = {"berth-resident", "stdio"};
    options.fds = {placed_fd{in.reading.get(), 0}, placed_fd{out.writing.get(), 1}};
    process = std::make_unique<helper_process>(helper_process::start(resident_image(), options));
    to = std::move(in.writing);
    from = std::move(out.reading);
  }
  ~stdio_resident() {
    process->kill(SIGKILL);
    process->wait_blocking(2s);
  }
  std::unique_ptr<helper_process> process;
  unique_fd to;
  unique_fd from;
};

/// Copies from one descriptor to another until so many bytes have passed, the source ended or the sink is gone.
void copy(int from, int to, std::size_t limit, const std::atomic<bool>& stop) {
  char buffer[4096];
  while (limit > 0 && !stop) {
    pollfd ready[2] = {{from, POLLIN, 0}, {to, 0, 0}};
    if (::poll(ready, 2, 20) <= 0) continue;
    if (ready[1].revents != 0) return;
    const ssize_t n = ::read(from, buffer, std::min(limit, sizeof buffer));
    if (n <= 0) return;
    for (ssize_t done = 0; done < n;) {
      const ssize_t wrote = ::send(to, buffer + done, static_cast<std::size_t>(n - done), MSG_NOSIGNAL);
      if (wrote <= 0) return;
      done += wrote;
    }
    limit -= static_cast<std::size_t>(n);
  }
}

/// A connection between a link and the resident, which is cut after so many bytes of output.
class relay {
 public:
  relay(asio::any_io_executor executor, const stdio_resident& resident, std::size_t limit) {
    int down[2];
    int up[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, down) == 0);
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, up) == 0);
    channel = make_stdio_channel(executor, unique_fd(down[0]), unique_fd(up[0]));
    down_.reset(down[1]);
    up_.reset(up[1]);
    thread_ = std::thread([this, limit, from = resident.from.get(), to = resident.to.get()] {
      std::thread other([this, to] { copy_up(to); });
      copy(from, down_.get(), limit, stop_);
      stop_ = true;
      other.join();
      down_.reset();
      up_.reset();
    });
  }
  ~relay() {
    stop_ = true;
    thread_.join();
  }
  std::shared_ptr<resident_channel> channel;

 private:
  void copy_up(int to) {
    char buffer[4096];
    while (!stop_) {
      pollfd ready{up_.get(), POLLIN, 0};
      if (::poll(&ready, 1, 20) <= 0) continue;
      const ssize_t n = ::read(up_.get(), buffer, sizeof buffer);
      if (n <= 0 || ::write(to, buffer, static_cast<std::size_t>(n)) < n) return;
    }
  }

  std::atomic<bool> stop_{false};
  unique_fd down_;
  unique_fd up_;
  std::thread thread_;
};

/// Attaches again until it holds. Some connections let through less than was left over from the one before, so that their welcome
/// comes on a later one, where it is none.
task<int> attach_again(resident_link& link, const stdio_resident& resident, std::unique_ptr<relay>& connection,
                       int cuts) {
  for (;;) {
    ++cuts;
    connection.reset();
    const std::size_t limit = 1000 + (static_cast<std::size_t>(cuts) * 40009) % 300000;
    connection = std::make_unique<relay>(link.session()->executor(), resident, limit);
    try {
      co_await link.attach(connection->channel);
      co_return cuts;
    } catch (const std::system_error& caught) {
      if (caught.code() != errc::lost || link.lost()) throw;
    }
  }
}

ASYNC_TEST_FOR("lease: output goes on exactly where it was cut, whatever the place", 60s) {
  const stdio_resident resident;
  resident_link_options options;
  options.lease = 20s;
  resident_link link(io.get_executor(), std::move(options));
  auto connection = std::make_unique<relay>(io.get_executor(), resident, 500001);
  co_await link.attach(connection->channel);
  const auto changes = std::make_shared<const std::vector<std::string>>();
  command what("seq 1 600000; exit 5");
  what.cwd("/");
  auto process = co_await start_on_resident(link.session(), what, changes, resident_transport::framed);
  std::string all;
  int cuts = 0;
  bool exited = false;
  bool ended = false;
  while (!exited || !ended) {
    auto event = co_await process->next(std::chrono::steady_clock::now() + 50ms);
    if (const auto* piece = std::get_if<chunk>(&event)) all += piece->bytes();
    if (std::holds_alternative<streams_ended>(event)) ended = true;
    if (const auto* end = std::get_if<process_exited>(&event)) {
      exited = true;
      CHECK(end->status.code() == 5);
    }
    const auto* lost = std::get_if<process_lost>(&event);
    if (lost != nullptr) FAIL(lost->message);
    if (link.session()->greeted()) continue;
    cuts = co_await attach_again(link, resident, connection, cuts);
  }
  std::string expected;
  for (int i = 1; i <= 600000; ++i) expected += std::to_string(i) + "\n";
  const bool exact = all == expected;
  CHECK(all.size() == expected.size());
  CHECK(exact);
  CHECK(cuts >= 3);
  process.reset();
  co_await link.end();
}

ASYNC_TEST("lease: without a connection in time the commands are lost") {
  const stdio_resident resident;
  resident_link_options options;
  options.lease = 300ms;
  resident_link link(io.get_executor(), std::move(options));
  auto connection = std::make_unique<relay>(io.get_executor(), resident, 100000);
  co_await link.attach(connection->channel);
  const auto changes = std::make_shared<const std::vector<std::string>>();
  command what("sleep 300");
  what.cwd("/");
  auto process = co_await start_on_resident(link.session(), what, changes, resident_transport::framed);
  connection.reset();
  auto event = co_await process->next(std::chrono::steady_clock::now() + 5s);
  CHECK(std::holds_alternative<streams_ended>(event));
  event = co_await process->next(std::chrono::steady_clock::now() + 5s);
  CHECK(std::holds_alternative<process_lost>(event));
  const std::vector<pid_t> pids(1, static_cast<pid_t>(process->pid()));
  const bool gone = co_await all_gone(pids);
  CHECK(gone);
  process.reset();
  co_await link.end();
}

}  // namespace
}  // namespace berth::test
