#include "host/sandbox_launch.hpp"

#include "core/error_cause.hpp"
#include "core/syscall.hpp"
#include "isolation/bwrap_failure.hpp"
#include "isolation/mount_table.hpp"
#include "isolation/reach.hpp"
#include "os/whole_file.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

namespace berth {
namespace {

// Their numbers in bwrap; the resident closes all but its socket.
constexpr int socket_fd = 3;
constexpr int arguments_fd = 4;
constexpr int image_fd = 6;
constexpr int mounts_fd = 7;
constexpr int namespace_fd = 8;

std::string whole_table(const prepared_sandbox& sandbox) {
  std::string table;
  char bytes[4096];
  for (ssize_t n; (n = ::pread(sandbox.mounts.get(), bytes, sizeof bytes, static_cast<off_t>(table.size()))) > 0;)
    table.append(bytes, static_cast<std::size_t>(n));
  return table;
}

/// What the resident has sent.
unique_fd take_namespace(const prepared_sandbox& sandbox) {
  char byte = 0;
  iovec bytes{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(sandbox.namespace_in.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  int fd = -1;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return unique_fd(fd);
}

/// bwrap lets the sandbox follow what this host mounts, and nobody inside may change that: a process outside, which belongs to
/// whom the sandbox's namespace does, may. It must have one thread. Empty, or why not.
std::string seal_mounts(const prepared_sandbox& sandbox) {
  constexpr std::chrono::seconds patience(10);
  constexpr int in_helper[] = {3, 4};
  const unique_fd name_space = take_namespace(sandbox);
  if (!name_space) return "it is not known which namespace that is";
  helper_options options;
  options.argv = {"berth-resident", "seal", std::to_string(in_helper[0]), std::to_string(in_helper[1])};
  options.env = std::vector<std::string>();
  options.fds = {placed_fd{name_space.get(), in_helper[0]}, placed_fd{sandbox.mounts.get(), in_helper[1]}};
  const helper_process helper = helper_process::start(resident_image(), options);
  if (!helper.wait_blocking(patience)) {
    helper.kill(SIGKILL);
    helper.wait_blocking(patience);
    return "this took too long";
  }
  const int status = *helper.status();
  if (status == 0 || status == helper_process::status_unknown) return {};
  return WIFEXITED(status) ? std::system_category().message(WEXITSTATUS(status)) : describe_wait_status(status);
}

}  // namespace

void fail_start(const std::string& why) {
  throw error(make_error_code(errc::start_failed), "[isolation] " + why + "; command was not run");
}

launched_resident launch_isolated(asio::any_io_executor executor, const prepared_sandbox& sandbox) {
  int ends[2];
  check_syscall(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "a connection to a resident");
  unique_fd ours(ends[0]);
  const unique_fd its(ends[1]);
  helper_options options;
  options.argv = {"bwrap",
                  "--args",
                  std::to_string(arguments_fd),
                  "--",
                  memory_image::path(image_fd),
                  "isolated",
                  std::to_string(socket_fd),
                  std::to_string(mounts_fd),
                  std::to_string(namespace_fd)};
  // What commands inherit must not reach bwrap: LD_PRELOAD would run in it, outside.
  options.env = std::vector<std::string>();
  options.fds = {placed_fd{its.get(), socket_fd},
                 placed_fd{sandbox.arguments.get(), arguments_fd},
                 placed_fd{sandbox.filter.get(), filter_in_bwrap},
                 placed_fd{resident_image().fd(), image_fd},
                 placed_fd{sandbox.complaints.get(), 2},
                 placed_fd{sandbox.mounts.get(), mounts_fd},
                 placed_fd{sandbox.namespace_out.get(), namespace_fd}};
  try {
    helper_process process = helper_process::start(sandbox.program, options);
    return {std::move(process), make_socket_channel(std::move(executor), std::move(ours))};
  } catch (const error& failure) {
    fail_start("bwrap not usable: " + message_with_cause(failure));
  }
}

std::string find_wrong_mount(const prepared_sandbox& sandbox) {
  auto inside = parse_mount_table(whole_table(sandbox));
  std::string why;
  if (std::any_of(inside.begin(), inside.end(), [](const mount_entry& each) { return each.is_followed; })) {
    why = seal_mounts(sandbox);
    inside = parse_mount_table(whole_table(sandbox));
  }
  const auto host = parse_mount_table(whole_file("/proc/self/mountinfo"));
  const std::string wrong = find_wrong_mount(sandbox.plan, host, inside, is_barred);
  return wrong.empty() || why.empty() ? wrong : wrong + ": " + why;
}

std::string explain_failure(const prepared_sandbox& sandbox, const error& failure) {
  std::string text(4096, '\0');
  const ssize_t n = ::pread(sandbox.complaints.get(), text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  // Where a security policy refuses what lies in memory the next sandbox gets a file.
  if (text.find("execvp " + memory_image::path(image_fd)) != text.npos) resident_image().fall_back();
  if (text.empty() && failure.code() == errc::timeout) text = "it did not answer";
  return explain_bwrap_failure(text, read_namespace_settings());
}

}  // namespace berth
