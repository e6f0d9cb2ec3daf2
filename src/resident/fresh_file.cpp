#include "resident/fresh_file.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

namespace berth::resident {
namespace {

constexpr int most_names = 100;

// What a signal handler may look at.
volatile sig_atomic_t directory_now = -1;
char name_now[32];

void make_name() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    number = static_cast<std::uint64_t>(now.tv_nsec) << 32 ^ static_cast<std::uint64_t>(getpid());
  }
  snprintf(name_now, sizeof name_now, ".berth-%016llx", static_cast<unsigned long long>(number));
}

void on_signal(int number) {
  drop_temporary();
  _exit(128 + number);
}

/// Does errno say that the file system has no files without names?
bool lacks_nameless() { return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT; }

}  // namespace

void drop_temporary() {
  if (directory_now >= 0) unlinkat(directory_now, name_now, 0);
}

void watch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigfillset(&action.sa_mask);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaction(number, &action, nullptr);
  // These come as errors of the call.
  action.sa_handler = SIG_IGN;
  for (const int number : {SIGPIPE, SIGXFSZ}) sigaction(number, &action, nullptr);
}

temporary::temporary(int directory) : directory_(directory) {
  make_name();
  directory_now = directory;
}

temporary::~temporary() {
  const int kept = errno;
  drop_temporary();
  directory_now = -1;
  errno = kept;
}

const char* temporary::name() const { return name_now; }

void temporary::again() {
  directory_now = -1;
  make_name();
  directory_now = directory_;
}

// After a rename onto the same file the temporary name is still there: the destructor sees to it.
void temporary::rename_to(const char* name, std::string_view entry) {
  check(renameat(directory_, name_now, directory_, name), file_reason::none, entry);
}

fresh_file::fresh_file(int directory, mode_t mode, std::string_view entry, kind wanted)
    : directory_(directory), entry_(entry) {
  if (wanted == kind::nameless) {
    fd_.reset(openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
    if (fd_) return;
    if (!lacks_nameless()) refuse(file_reason::make_file, errno, entry_);
  }
  name_ = make<temporary>(directory);
  for (int tries = 0; !fd_; ++tries) {
    fd_.reset(openat(directory, name_->name(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (fd_) return;
    if (errno != EEXIST || tries == most_names) refuse(file_reason::make_file, errno, entry_);
    name_->again();
  }
}

fresh_file::~fresh_file() {
  if (name_ != nullptr) destroy(name_);
}

void fresh_file::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd_.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    bytes.remove_prefix(static_cast<std::size_t>(check(wrote, file_reason::none, entry_)));
  }
}

/// False if something has the name.
bool fresh_file::link_to(const char* name) {
  if (linkat(fd_.get(), "", directory_, name, AT_EMPTY_PATH) == 0) return true;
  if (errno == EEXIST) return false;
  // Older kernels want a privilege for that.
  char path[40];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd_.get());
  if (linkat(AT_FDCWD, path, directory_, name, AT_SYMLINK_FOLLOW) == 0) return true;
  if (errno == EEXIST) return false;
  refuse(file_reason::give_name, errno, entry_);
}

bool fresh_file::publish_new(const char* name) {
  if (name_ == nullptr) return link_to(name);
  if (syscall(SYS_renameat2, directory_, name_->name(), directory_, name, RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  // No such rename here: a second name, and the first one goes.
  if (linkat(directory_, name_->name(), directory_, name, 0) == 0) return true;
  if (errno == EEXIST) return false;
  refuse(file_reason::give_name, errno, entry_);
}

void fresh_file::publish(const char* name) {
  if (name_ == nullptr) {
    name_ = make<temporary>(directory_);
    for (int tries = 0; !link_to(name_->name()); ++tries) {
      if (tries == most_names) refuse(file_reason::temporary_name, EEXIST, entry_);
      name_->again();
    }
  }
  name_->rename_to(name, entry_);
}

}  // namespace berth::resident
