#include "docker/bad_link.hpp"

#include "core/compat.hpp"
#include "core/task_group.hpp"
#include "support/temp_dir.hpp"

#include <asio/buffer.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/socket_base.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

namespace berth::test {

using asio::generic::stream_protocol;

struct bad_link::connection {
  connection(stream_protocol::socket c, stream_protocol::socket d) : client(std::move(c)), daemon(std::move(d)) {}

  void end(bool reset) {
    std::error_code ignored;
    if (reset) client.set_option(asio::socket_base::linger(true, 0), ignored);
    client.close(ignored);
    daemon.close(ignored);
  }

  stream_protocol::socket client;
  stream_protocol::socket daemon;
  bool attached = false;
};

struct bad_link::state {
  explicit state(asio::io_context& i) : io(i), acceptor(i), group(i.get_executor()) {}

  asio::io_context& io;
  asio::basic_socket_acceptor<stream_protocol> acceptor;
  temp_dir directory;
  std::string url;
  std::string daemon;
  link_faults faults;
  int attached = 0;
  std::vector<std::weak_ptr<connection>> open;
  task_group group;
};

bad_link::bad_link(asio::io_context& io, link_kind kind, std::string daemon_url) : state_(std::make_shared<state>(io)) {
  state_->daemon = daemon_url.substr(std::string("unix://").size());
  stream_protocol::endpoint where;
  if (kind == link_kind::tcp) {
    where = asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0);
  } else {
    where = asio::local::stream_protocol::endpoint((state_->directory.path() / "s").string());
  }
  state_->acceptor.open(where.protocol());
  state_->acceptor.bind(where);
  state_->acceptor.listen();
  if (kind == link_kind::tcp) {
    asio::ip::tcp::endpoint bound;
    const stream_protocol::endpoint local = state_->acceptor.local_endpoint();
    std::copy_n(static_cast<const char*>(static_cast<const void*>(local.data())), local.size(),
                static_cast<char*>(static_cast<void*>(bound.data())));
    state_->url = "tcp://127.0.0.1:" + std::to_string(bound.port());
  } else {
    state_->url = "unix://" + (state_->directory.path() / "s").string();
  }
  state_->group.spawn(accept_all(state_));
}

bad_link::~bad_link() {
  std::error_code ignored;
  state_->acceptor.close(ignored);
  cut_all();
  state_->group.cancel();
}

const std::string& bad_link::url() const noexcept { return state_->url; }
link_faults& bad_link::faults() noexcept { return state_->faults; }
int bad_link::attached() const noexcept { return state_->attached; }

void bad_link::cut_all() {
  for (const auto& each : state_->open) {
    if (const auto one = each.lock()) one->end(false);
  }
  state_->open.clear();
}

task<void> bad_link::accept_all(std::shared_ptr<state> self) {
  for (;;) {
    stream_protocol::socket client(self->io);
    const auto [failed] = co_await self->acceptor.async_accept(client, as_tuple(asio::use_awaitable));
    if (failed) co_return;
    if (self->faults.refuse) continue;
    stream_protocol::socket daemon(self->io);
    const stream_protocol::endpoint there = asio::local::stream_protocol::endpoint(self->daemon);
    const auto [missing] = co_await daemon.async_connect(there, as_tuple(asio::use_awaitable));
    if (missing) continue;
    std::error_code ignored;
    client.set_option(asio::ip::tcp::no_delay(true), ignored);
    auto one = std::make_shared<connection>(std::move(client), std::move(daemon));
    self->open.push_back(one);
    self->group.spawn(carry(self, one, true));
    self->group.spawn(carry(self, one, false));
  }
}

task<void> bad_link::carry(std::shared_ptr<state> self, std::shared_ptr<connection> one, bool down) {
  std::vector<char> bytes(std::size_t{64} << 10);
  asio::steady_timer timer(self->io);
  auto& from = down ? one->daemon : one->client;
  auto& to = down ? one->client : one->daemon;
  for (;;) {
    const auto space = asio::buffer(bytes);
    const auto [failed, n] = co_await from.async_read_some(space, as_tuple(asio::use_awaitable));
    if (failed) break;
    const std::string_view text(bytes.data(), n);
    if (!down && !one->attached && text.find("/attach?") != text.npos) {
      one->attached = true;
      ++self->attached;
    }
    link_faults& faults = self->faults;
    const bool suffers = one->attached || faults.everywhere;
    for (std::size_t at = 0; at < n;) {
      if (suffers && faults.swallow) break;
      std::size_t size = n - at;
      auto& left = down ? faults.cut_down : faults.cut_up;
      if (suffers && faults.piece > 0) size = std::min(size, faults.piece);
      if (suffers && left) size = std::min(size, *left);
      if (suffers && faults.delay.count() > 0) {
        timer.expires_after(faults.delay);
        (void)co_await timer.async_wait(as_tuple(asio::use_awaitable));
      }
      if (size > 0) {
        const auto piece = asio::buffer(bytes.data() + at, size);
        const auto [broken, written] = co_await asio::async_write(to, piece, as_tuple(asio::use_awaitable));
        if (broken) co_return one->end(false);
        at += written;
      }
      if (suffers && left) {
        *left -= size;
        if (*left == 0) {
          left.reset();
          co_return one->end(faults.reset);
        }
      }
    }
  }
  std::error_code ignored;
  to.shutdown(asio::socket_base::shutdown_send, ignored);
}

}  // namespace berth::test
