/// berth-resident: starts and ends the commands of one place for its owner. docs/resident.md says how it speaks.

#include "resident/file_verbs.hpp"
#include "resident/mounts.hpp"
#include "resident/place.hpp"
#include "resident/raw_syscall.hpp"
#include "resident/session.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

void write_line(const char* text) {
  const ssize_t ignored = write(2, text, strlen(text));
  (void)ignored;
}

/// Ignored signals would be inherited by every command (nohup, some languages ignore SIGPIPE). Not by libc, which keeps two
/// of them to itself.
void default_signals() {
  using berth::resident::raw_pointer;
  const unsigned long action[4] = {};  // as the kernel has it: SIG_DFL, no flags, no mask
  for (int s = 1; s < 65; ++s) berth::resident::raw_syscall(SYS_rt_sigaction, s, raw_pointer(action), 0, 8);
}

void close_from(int first) {
  if (syscall(SYS_close_range, first, ~0u, 0) == 0) return;
  const long most = sysconf(_SC_OPEN_MAX);
  for (int fd = first; fd < (most > 0 && most < 65536 ? most : 65536); ++fd) close(fd);
}

/// 0, 1 and 2 are always open, so that a new descriptor is never one of them.
void fill_standard() {
  for (int fd = 0; fd < 3; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR);
  }
}

/// A guest's program is of no use any more once it runs, and nothing of it stays if it and its owner are killed: its file goes, with
/// the directory that was made for it. Where it may not do that its owner sees to it.
void remove_own_file(char* path) {
  char* const slash = strrchr(path, '/');
  if (slash == nullptr || slash == path || unlink(path) != 0) return;
  *slash = '\0';
  rmdir(path);
  *slash = '/';
}

}  // namespace

int main(int argc, char** argv) {
  using berth::resident::channel;
  using berth::resident::surroundings;
  if (argc >= 2 && strcmp(argv[1], berth::wire::file_word) == 0)
    return berth::resident::run_file_verb(argc - 2, argv + 2);
  if (argc == 4 && strcmp(argv[1], "seal") == 0) return berth::resident::seal_mounts(atoi(argv[2]), atoi(argv[3]));
  const bool is_place = argc == 3 && strcmp(argv[1], "place") == 0;
  const bool is_guest = argc == 3 && strcmp(argv[1], "guest") == 0;
  const bool is_isolated = argc == 5 && strcmp(argv[1], "isolated") == 0;
  const bool has_number = is_isolated || (argc == 3 && strcmp(argv[1], "socket") == 0);
  if (!is_place && !is_guest && !has_number && !(argc == 2 && strcmp(argv[1], "stdio") == 0)) {
    write_line(
        "usage: berth-resident socket FD | isolated FD TABLE_FD SOCKET_FD | seal NAMESPACE_FD TABLE_FD | stdio |\n"
        "       place SOCKET | guest SILENCE_MS\nStarted by the berth library; not for use by hand.\n");
    return 2;
  }
  fill_standard();
  default_signals();
  if (is_isolated) {
    berth::resident::copy_mount_table(atoi(argv[3]));
    berth::resident::send_mount_namespace(atoi(argv[4]));
  }
  int in = 0;
  int out = 1;
  const int joined = is_place ? berth::resident::join_socket(argv[2]) : -1;
  const bool is_socket = has_number || joined >= 0;
  if (is_socket) {
    const int given = has_number ? atoi(argv[2]) : joined;
    in = fcntl(given, F_DUPFD_CLOEXEC, 3);
    if (in < 0) return 2;
    if (in != 3) {
      dup3(in, 3, O_CLOEXEC);
      in = 3;
    }
    close_from(4);
    out =
        fcntl(in, F_DUPFD_CLOEXEC, 4);  // epoll knows a descriptor only once, and watches for both directions by itself
    if (out < 0) return 2;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
    close(null);
  } else {
    close_from(3);
    fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK);
    fcntl(1, F_SETFL, fcntl(1, F_GETFL) | O_NONBLOCK);
  }
  auto* session =
      berth::resident::make<berth::resident::session>(is_socket ? channel::mode::socket : channel::mode::stdio, in, out,
                                                      is_isolated ? surroundings::sandbox : surroundings::place);
  // Whoever made this container may be dead before it said a word.
  if (is_place || is_guest) session->end_unless_greeted(60000);
  if (is_place) session->share_memory();
  if (is_guest) {
    remove_own_file(argv[0]);
    session->end_unless_heard(atoll(argv[2]));
  }
  return session->run();
}
