#include "host/resident_launch.hpp"

#include "core/syscall.hpp"

#include <sys/socket.h>

#include <utility>

namespace berth {

launched_resident launch_resident(asio::any_io_executor executor, const std::vector<std::string>& env) {
  int ends[2];
  check_syscall(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "a connection to a resident");
  unique_fd ours(ends[0]);
  const unique_fd its(ends[1]);
  helper_options options;
  options.argv = {"berth-resident", "socket", "3"};
  options.env = env;
  options.fds = {placed_fd{its.get(), 3}};
  helper_process process = helper_process::start(resident_image(), options);
  return {std::move(process), make_socket_channel(std::move(executor), std::move(ours))};
}

}  // namespace berth
