#include "http/script_server.hpp"

#include "core/compat.hpp"
#include "core/task_group.hpp"

#include <asio/buffer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <algorithm>
#include <utility>

namespace berth::test {

using asio::ip::tcp;

task<bool> script_peer::more() {
  char bytes[4096];
  const auto buffer = asio::buffer(bytes);
  const auto [failed, n] = co_await socket_.async_read_some(buffer, as_tuple(asio::use_awaitable));
  if (failed) co_return false;
  pending_.append(bytes, n);
  co_return true;
}

task<std::string> script_peer::read_until(std::string end) {
  for (std::size_t searched = 0;;) {
    const auto found = pending_.find(end, searched - std::min(searched, end.size()));
    searched = pending_.size();
    if (found != std::string::npos) {
      std::string head = pending_.substr(0, found + end.size());
      pending_.erase(0, found + end.size());
      co_return head;
    }
    const bool came = co_await more();
    if (!came) co_return std::string();
  }
}

task<std::string> script_peer::read_bytes(std::size_t count) {
  while (pending_.size() < count) {
    const bool came = co_await more();
    if (!came) break;
  }
  std::string bytes = pending_.substr(0, count);
  pending_.erase(0, bytes.size());
  co_return bytes;
}

task<std::string> script_peer::read_to_end() {
  for (;;) {
    const bool came = co_await more();
    if (!came) co_return std::exchange(pending_, std::string());
  }
}

task<void> script_peer::write(std::string bytes) {
  const auto buffer = asio::buffer(bytes);
  const auto [failed, n] = co_await asio::async_write(socket_, buffer, as_tuple(asio::use_awaitable));
  (void)failed;
  (void)n;
}

task<void> script_peer::write_slowly(std::string bytes) {
  std::error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  for (const char each : bytes) co_await write(std::string(1, each));
}

void script_peer::shutdown_write() {
  std::error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

void script_peer::close() {
  std::error_code ignored;
  socket_.close(ignored);
}

void script_peer::reset() {
  std::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  close();
}

struct script_server::state {
  state(asio::io_context& io, script with)
      : acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        what(std::move(with)),
        group(io.get_executor()) {}

  tcp::acceptor acceptor;
  script what;
  std::vector<std::weak_ptr<script_peer>> peers;
  int connections = 0;
  task_group group;
};

script_server::script_server(asio::io_context& io, script what) : state_(std::make_shared<state>(io, std::move(what))) {
  state_->group.spawn(accept_all(state_));
}

script_server::~script_server() {
  std::error_code ignored;
  state_->acceptor.close(ignored);
  for (const auto& each : state_->peers) {
    if (const auto peer = each.lock()) peer->close();
  }
  state_->group.cancel();
}

std::uint16_t script_server::port() const { return state_->acceptor.local_endpoint().port(); }

std::string script_server::url(std::string_view path) const {
  return "http://127.0.0.1:" + std::to_string(port()) + std::string(path);
}

int script_server::connections() const { return state_->connections; }

task<void> script_server::accept_all(std::shared_ptr<state> self) {
  for (;;) {
    auto [failed, socket] = co_await self->acceptor.async_accept(as_tuple(asio::use_awaitable));
    if (failed) co_return;
    const auto peer = std::make_shared<script_peer>(std::move(socket));
    self->peers.push_back(peer);
    self->group.spawn(serve(self, peer, self->connections++));
  }
}

task<void> script_server::serve(std::shared_ptr<state> self, script_peer_ptr peer, int number) {
  co_await self->what(peer, number);
  peer->close();
}

std::string response_text(std::string_view body, std::string_view fields, std::string_view status) {
  std::string text = "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(fields);
  return text + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

}  // namespace berth::test
