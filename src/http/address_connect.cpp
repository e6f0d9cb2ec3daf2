#include "http/address_connect.hpp"

#include "core/compat.hpp"
#include "core/deadline.hpp"
#include "core/syscall.hpp"
#include "http/headers.hpp"

#include <asio/error.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <utility>

namespace berth::http {
namespace {

using clock = std::chrono::steady_clock;
using socket_type = asio::generic::stream_protocol::socket;
using namespace std::chrono_literals;

constexpr int keepalive_seconds = 30;
constexpr auto full_queue_pause = 5ms;

int open_socket(int family) {
  return check_syscall(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
}

void set_tcp_options(int fd) {
  const auto set = [fd](int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, keepalive_seconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, keepalive_seconds);
}

task<stream_ptr> connect_one(asio::ip::tcp::endpoint to) {
  const auto executor = co_await asio::this_coro::executor;
  const int family = to.protocol().family();
  socket_type socket(executor, asio::generic::stream_protocol(family, IPPROTO_TCP), open_socket(family));
  const asio::generic::stream_protocol::endpoint generic(to);
  const auto [failed] = co_await socket.async_connect(generic, as_tuple(asio::use_awaitable));
  if (failed) throw std::system_error(failed);
  set_tcp_options(socket.native_handle());
  co_return make_socket_stream(executor, socket.release());
}

sockaddr_un address_of(const std::string& path, socklen_t& size) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path || path.find('\0') != std::string::npos)
    throw error(errc::invalid_argument, "unix socket: a path of 1 to 107 bytes is needed: " + path);
  std::memcpy(address.sun_path, path.data(), path.size());
  size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  if (path.front() == '@') {
    address.sun_path[0] = '\0';
    --size;
  }
  return address;
}

/// What the lookup says itself is kept: that it could not be done is not that there is no address.
std::string lookup_failure(const std::string& name, const std::system_error& failed) {
  const bool none = failed.code() == asio::error::host_not_found || failed.code() == asio::error::no_data;
  std::string text = fmt::format("the name {} {}", name, none ? "has no address" : "could not be looked up");
  const auto* told = dynamic_cast<const error*>(&failed);
  if (told != nullptr && !told->message().empty()) text += ": " + told->message();
  return text;
}

class closed_at_end {
 public:
  explicit closed_at_end(int fd) : fd_(fd) {}
  closed_at_end(const closed_at_end&) = delete;
  closed_at_end& operator=(const closed_at_end&) = delete;
  ~closed_at_end() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace

task<std::vector<asio::ip::address>> addresses_of(url host, connect_options options) {
  for (const auto& each : options.resolve) {
    if (!same_text(each.host, host.host) || (each.port != 0 && each.port != host.effective_port())) continue;
    std::vector<asio::ip::address> addresses;
    for (const auto& text : each.addresses) {
      std::error_code failed;
      addresses.push_back(asio::ip::make_address(text, failed));
      if (failed) throw error(errc::invalid_argument, "resolve: no address: " + text);
    }
    co_return addresses;
  }
  const std::string name = host.host;
  try {
    co_return co_await look_up(name, options.lookup);
  } catch (const std::system_error& failed) {
    if (is_cancelled(failed.code())) throw;
    throw http_error(phase::resolve, false, failed.code(), lookup_failure(name, failed));
  }
}

task<stream_ptr> connect_in_turn(std::vector<asio::ip::address> addresses, url to, clock::time_point deadline,
                                 std::shared_ptr<connect_progress> now) {
  std::error_code last = errc::not_found;
  for (std::size_t at = 0; at < addresses.size(); ++at) {
    const auto share = (deadline - clock::now()) / static_cast<long>(addresses.size() - at);
    const asio::ip::tcp::endpoint endpoint(addresses[at], to.effective_port());
    const auto before = now->tried + (at == 0 ? "" : ", ") + addresses[at].to_string();
    now->tried = before + ": no answer";
    auto attempt = with_deadline(connect_one(endpoint), std::max<clock::duration>(share, 1ms));
    try {
      co_return co_await std::move(attempt);
    } catch (const std::system_error& failed) {
      if (is_cancelled(failed.code())) throw;
      last = failed.code();
    }
    if (last != errc::timeout) now->tried = fmt::format("{}: {}", before, last.message());
  }
  const auto host = host_and_port(to.host, to.effective_port());
  throw http_error(phase::connect, false, last, fmt::format("no connection to {} ({})", host, now->tried));
}

task<stream_ptr> connect_unix(std::string path) {
  const auto executor = co_await asio::this_coro::executor;
  socklen_t size = 0;
  const sockaddr_un address = address_of(path, size);
  closed_at_end socket(open_socket(AF_UNIX));
  asio::steady_timer pause(executor);
  while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    const int code = errno;
    if (code != EAGAIN && code != EINTR)
      throw http_error(phase::connect, false, std::error_code(code, std::system_category()),
                       "no connection to " + path);
    pause.expires_after(full_queue_pause);
    co_await pause.async_wait(asio::use_awaitable);
  }
  co_return make_socket_stream(executor, socket.release());
}

}  // namespace berth::http
