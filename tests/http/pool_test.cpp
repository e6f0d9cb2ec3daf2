#include "http/pool.hpp"

#include "berth/error.hpp"
#include "support/async.hpp"
#include "support/running.hpp"
#include "support/waiting.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using http::connection_lease;
using http::connection_pool;
using http::pool_options;

/// A connection, and the descriptor of its other end.
struct wire_pair {
  explicit wire_pair(const asio::any_io_executor& executor) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    stream = http::make_socket_stream(executor, ends[0]);
    other = ends[1];
  }
  wire_pair(const wire_pair&) = delete;
  ~wire_pair() { ::close(other); }

  bool closed() const {
    char one;
    const ssize_t n = ::recv(other, &one, 1, MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno == ECONNRESET);
  }

  http::stream_ptr stream;
  int other = -1;
};

ASYNC_TEST("pool: what was given back is given again, to the same place only, the newest first") {
  connection_pool pool(io.get_executor(), pool_options());
  wire_pair first(io.get_executor());
  wire_pair second(io.get_executor());
  {
    connection_lease one = co_await pool.take("a");
    connection_lease two = co_await pool.take("a");
    CHECK_FALSE(one.stream());
    one.put(first.stream);
    two.put(second.stream);
    one.give_back();
    two.give_back();
  }
  CHECK(pool.idle() == 2);
  const connection_lease other = co_await pool.take("b");
  CHECK_FALSE(other.stream());
  const connection_lease again = co_await pool.take("a");
  CHECK(again.stream() == second.stream);
  CHECK(again.reused());
  const connection_lease fresh = co_await pool.take("a", true);
  CHECK_FALSE(fresh.stream());
  CHECK(pool.idle() == 1);
}

ASYNC_TEST("pool: one that was closed by the other side, or has bytes unasked, is not given again") {
  connection_pool pool(io.get_executor(), pool_options());
  {
    wire_pair wire(io.get_executor());
    connection_lease one = co_await pool.take("a");
    one.put(wire.stream);
    one.give_back();
    CHECK(pool.idle() == 1);
  }
  connection_lease next = co_await pool.take("a");
  CHECK_FALSE(next.stream());
  wire_pair noisy(io.get_executor());
  next.put(noisy.stream);
  REQUIRE(::write(noisy.other, "x", 1) == 1);
  next.give_back();
  CHECK(pool.idle() == 0);
  CHECK(noisy.closed());
}

ASYNC_TEST("pool: a lease that is dropped closes its connection and lets the next one in") {
  pool_options options;
  options.per_host = 1;
  connection_pool pool(io.get_executor(), options);
  wire_pair wire(io.get_executor());
  std::optional<connection_lease> one = co_await pool.take("a");
  one->put(wire.stream);
  running next(io.get_executor(), pool.take("a"));
  co_await pause_for(5ms);
  CHECK_FALSE(next.ended());
  one.reset();
  CHECK(wire.closed());
  const connection_lease got = co_await next.result();
  CHECK_FALSE(got.stream());
}

ASYNC_TEST("pool: those who wait come in turn, and who gives up is passed over") {
  pool_options options;
  options.per_host = 1;
  connection_pool pool(io.get_executor(), options);
  std::optional<connection_lease> held = co_await pool.take("a");
  std::string order;
  const auto visit = [&](char name) -> task<int> {
    const connection_lease mine = co_await pool.take("a");
    order += name;
    co_return 0;
  };
  running b(io.get_executor(), visit('b'));
  running c(io.get_executor(), visit('c'));
  running d(io.get_executor(), visit('d'));
  co_await pause_for(5ms);
  c.cancel();
  held.reset();
  (void)co_await d.result();
  (void)co_await b.result();
  CHECK(order == "bd");
}

ASYNC_TEST("pool: its end closes what is kept, wakes those who wait, and spares what is in use") {
  pool_options options;
  options.per_host = 1;
  std::optional<connection_pool> pool(std::in_place, io.get_executor(), options);
  wire_pair kept(io.get_executor());
  wire_pair used(io.get_executor());
  connection_lease one = co_await pool->take("a");
  one.put(kept.stream);
  one.give_back();
  connection_lease two = co_await pool->take("b");
  two.put(used.stream);
  running waiting(io.get_executor(), pool->take("b"));
  co_await pause_for(5ms);
  pool.reset();
  CHECK(kept.closed());
  std::error_code code;
  try {
    (void)co_await waiting.result();
  } catch (const error& failed) {
    code = failed.code();
  }
  CHECK(code == errc::destroyed);
  CHECK_FALSE(used.closed());
  two.give_back();
  CHECK(used.closed());
}

}  // namespace
}  // namespace berth::test
