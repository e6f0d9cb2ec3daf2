#include "docker/socket_offer.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"
#include "core/syscall.hpp"

#include <asio/use_awaitable.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace berth {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "berth-socket";
constexpr std::chrono::minutes young{1};  // its owner may not have locked it yet

unique_fd lock_directory(const std::string& path) noexcept {
  unique_fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

bool is_left(const fs::directory_entry& entry) {
  if (!entry.path().filename().string().starts_with(prefix)) return false;
  struct stat about {};
  if (::lstat(entry.path().c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != ::geteuid())
    return false;
  return std::chrono::system_clock::from_time_t(about.st_mtime) + young < std::chrono::system_clock::now();
}

}  // namespace

void remove_stale_offers() noexcept {
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::temp_directory_path())) {
      if (!is_left(entry) || !lock_directory(entry.path())) continue;
      ::unlink((entry.path() / "s").c_str());
      ::rmdir(entry.path().c_str());
    }
  } catch (const std::exception&) {  // it costs an entry in a directory of temporary files
  }
}

socket_offer::socket_offer(asio::any_io_executor executor)
    : directory_(prefix),
      lock_(lock_directory(directory_.path())),
      path_(directory_.path() + "/s"),
      acceptor_(std::move(executor)) {
  acceptor_.open();
  check_syscall(::fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC), "a socket");
  acceptor_.bind(asio::local::stream_protocol::endpoint(path_));
  check_syscall(::chmod(path_.c_str(), 0666), "a socket");
  acceptor_.listen(1);
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
  std::error_code ignored;
  acceptor_.close(ignored);
  co_return found;
}

}  // namespace berth
