#include "docker/socket_offer.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"
#include "core/shown_path.hpp"
#include "core/syscall.hpp"

#include <asio/use_awaitable.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace berth {
namespace {

constexpr std::string_view directory_prefix = "berth-socket-";
constexpr std::chrono::hours oldest_offer{1};

std::string make_socket_directory() {
  std::string path = (std::filesystem::temp_directory_path() / (std::string(directory_prefix) + "XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr)
    throw error(std::error_code(errno, std::system_category()), "a directory for a socket: " + shown_path(path));
  return path;
}

bool is_stale_offer(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != ::geteuid()) return false;
  const auto changed = std::chrono::system_clock::from_time_t(about.st_mtime);
  return std::chrono::system_clock::now() - changed > oldest_offer;
}

}  // namespace

void remove_stale_offers() noexcept {
  std::error_code code;
  const auto directory = std::filesystem::temp_directory_path(code);
  std::filesystem::directory_iterator at(directory, code);
  for (; !code && at != std::filesystem::directory_iterator(); at.increment(code)) {
    const std::string path = at->path().string();
    if (!at->path().filename().string().starts_with(directory_prefix) || !is_stale_offer(path)) continue;
    ::unlink((path + "/s").c_str());
    ::rmdir(path.c_str());
  }
}

socket_offer::socket_offer(asio::any_io_executor executor)
    : directory_(make_socket_directory()), path_(directory_ + "/s"), acceptor_(std::move(executor)) {
  try {
    acceptor_.open();
    check_syscall(::fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC), "a socket");
    acceptor_.bind(asio::local::stream_protocol::endpoint(path_));
    check_syscall(::chmod(path_.c_str(), 0666), "a socket");
    acceptor_.listen(1);
  } catch (const std::system_error&) {
    withdraw();
    throw;
  }
}

socket_offer::~socket_offer() { withdraw(); }

void socket_offer::withdraw() noexcept {
  if (directory_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(directory_.c_str());
  directory_.clear();
}

task<void> socket_offer::accept(unique_fd& into) {
  auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
  ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
  into = unique_fd(socket.release());
}

task<unique_fd> socket_offer::wait(std::chrono::milliseconds time) {
  unique_fd found;
  try {
    auto accepting = accept(found);
    auto bounded = with_deadline(std::move(accepting), time);
    co_await std::move(bounded);
  } catch (const error& failure) {
    if (failure.code() != errc::timeout) throw;
  }
  withdraw();
  co_return found;
}

}  // namespace berth
