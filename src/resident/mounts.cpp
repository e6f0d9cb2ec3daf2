#include "resident/mounts.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

namespace berth::resident {
namespace {

void copy(int from, int to) {
  char bytes[4096];
  for (ssize_t n; (n = read(from, bytes, sizeof bytes)) > 0;) {
    if (write(to, bytes, static_cast<size_t>(n)) != n) break;
  }
}

}  // namespace

void copy_mount_table(int to) {
  const int table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  copy(table, to);
  close(table);
}

void send_mount_namespace(int socket) {
  const int own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (own < 0) return;
  char byte = 0;
  iovec bytes{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof own)] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof own);
  memcpy(CMSG_DATA(header), &own, sizeof own);
  sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  close(own);
}

int seal_mounts(int name_space, int table) {
  const int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);  // that inside does not know us
  const int user = ioctl(name_space, NS_GET_USERNS);
  if (proc < 0 || user < 0) return errno;
  if (setns(user, CLONE_NEWUSER) != 0 || setns(name_space, CLONE_NEWNS) != 0) return errno;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return errno;
  const int now = openat(proc, "self/mountinfo", O_RDONLY | O_CLOEXEC);
  if (now < 0 || ftruncate(table, 0) != 0 || lseek(table, 0, SEEK_SET) != 0) return errno;
  copy(now, table);
  return 0;
}

}  // namespace berth::resident
