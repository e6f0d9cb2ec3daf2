#include "http/lookup.hpp"

#include "berth/error.hpp"
#include "core/compat.hpp"
#include "core/signal_mask.hpp"
#include "core/syscall.hpp"

#include <asio/error.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace berth::http {
namespace {

using addresses = std::vector<asio::ip::address>;

constexpr int most_at_once = 32;
std::atomic<int> running{0};

/// One of the lookups that may run at once.
class running_lookup {
 public:
  running_lookup() {
    if (running.fetch_add(1) < most_at_once) return;
    running.fetch_sub(1);
    throw error(errc::resource_exhausted, "too many name lookups hang");
  }
  running_lookup(const running_lookup&) = delete;
  running_lookup& operator=(const running_lookup&) = delete;
  ~running_lookup() { running.fetch_sub(1); }
};

/// What the thread and the one who waits share.
struct question {
  question(std::string of, name_lookup by)
      : name(std::move(of)),
        lookup(std::move(by)),
        done(check_syscall(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {}
  question(const question&) = delete;
  question& operator=(const question&) = delete;
  ~question() { ::close(done); }

  void answer() noexcept {
    try {
      found = lookup(name);
    } catch (...) {
      failure = std::current_exception();
    }
    counted.reset();
    answered.store(true, std::memory_order_release);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(done, &one, sizeof one);
  }

  const std::string name;
  const name_lookup lookup;
  const int done;
  std::optional<running_lookup> counted;  // from its start to its answer
  addresses found;
  std::exception_ptr failure;
  std::atomic<bool> answered{false};
};

void begin(const std::shared_ptr<question>& about) {
  about->counted.emplace();
  const all_signals_blocked blocked;
  std::thread([own = about]() mutable {
    own->answer();
    own.reset();
  }).detach();
}

std::error_code lookup_error(int code) {
  switch (code) {
    case EAI_AGAIN:
      return asio::error::host_not_found_try_again;
    case EAI_FAIL:
      return asio::error::no_recovery;
    case EAI_SYSTEM:
      return {errno, std::system_category()};
    case EAI_MEMORY:
      return make_error_code(errc::resource_exhausted);
    default:
      return asio::error::host_not_found;
  }
}

asio::ip::address address_of(const sockaddr* from) {
  if (from->sa_family == AF_INET) {
    sockaddr_in four;
    std::memcpy(&four, from, sizeof four);
    return asio::ip::address_v4(ntohl(four.sin_addr.s_addr));
  }
  sockaddr_in6 six;
  std::memcpy(&six, from, sizeof six);
  asio::ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), &six.sin6_addr, bytes.size());
  return asio::ip::address_v6(bytes, six.sin6_scope_id);
}

}  // namespace

addresses look_up_blocking(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* first = nullptr;
  if (const int failed = ::getaddrinfo(name.c_str(), nullptr, &hints, &first); failed != 0)
    throw std::system_error(lookup_error(failed));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(first, &::freeaddrinfo);
  addresses found;
  for (const addrinfo* each = first; each != nullptr; each = each->ai_next) {
    if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
    const auto address = address_of(each->ai_addr);
    if (std::find(found.begin(), found.end(), address) == found.end()) found.push_back(address);
  }
  return found;
}

task<addresses> look_up(std::string name, name_lookup lookup) {
  std::error_code no_literal;
  const auto literal = asio::ip::make_address(name, no_literal);
  if (!no_literal) co_return addresses(1, literal);
  if (!lookup) lookup = look_up_blocking;
  const auto about = std::make_shared<question>(std::move(name), std::move(lookup));
  const int own = check_syscall(::fcntl(about->done, F_DUPFD_CLOEXEC, 0), "lookup");
  asio::posix::stream_descriptor done(co_await asio::this_coro::executor, own);
  begin(about);
  while (!about->answered.load(std::memory_order_acquire)) {
    const auto [failed] =
        co_await done.async_wait(asio::posix::stream_descriptor::wait_read, as_tuple(asio::use_awaitable));
    if (failed) throw std::system_error(failed);
  }
  if (about->failure) std::rethrow_exception(about->failure);
  if (about->found.empty()) throw std::system_error(make_error_code(asio::error::host_not_found));
  co_return std::move(about->found);
}

}  // namespace berth::http
