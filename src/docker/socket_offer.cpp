#include "docker/socket_offer.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"
#include "core/shown_path.hpp"
#include "core/syscall.hpp"

#include <asio/use_awaitable.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace berth {
namespace {

std::string make_socket_directory() {
  std::string path = (std::filesystem::temp_directory_path() / "berth-socket-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr)
    throw error(std::error_code(errno, std::system_category()), "a directory for a socket: " + shown_path(path));
  return path;
}

}  // namespace

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
