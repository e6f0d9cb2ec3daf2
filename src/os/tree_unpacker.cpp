#include "os/tree_unpacker.hpp"

#include "os/file_failure.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace berth {
namespace {

/// A whole stream ends with blocks of zeros; at least one of them must have come.
constexpr std::size_t block_size = 512;

/// A signal from one thread to the other. Not std::binary_semaphore: that of g++ 12 may sleep for ever.
class turn {
 public:
  void release() {
    const std::lock_guard lock(mutex_);
    given_ = true;
    changed_.notify_one();
  }
  void acquire() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return given_; });
    given_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool given_ = false;
};

open_tree fill_no_link(const path_scope& scope, const std::string& path) {
  scope.make_directories(path);
  const located where = scope.to_move(path);
  struct stat found {};
  check_file(::fstatat(where.directory.get(), where.name.c_str(), &found, AT_SYMLINK_NOFOLLOW));
  if (S_ISLNK(found.st_mode)) refuse_last_link();
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  return {unique_fd(check_file(::openat(where.directory.get(), where.name.c_str(), flags))), path};
}

struct read_closer {
  void operator()(archive* open) const noexcept { ::archive_read_free(open); }
};

}  // namespace

// The two threads take turns: whoever waits for one touches nothing.
struct tree_unpacker::reader {
  reader(std::shared_ptr<const path_scope> scope, open_tree top, outside_links links)
      : extraction(std::move(scope), std::move(top), links) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // the host program's handlers run elsewhere
    thread = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~reader() {
    stopped = true;
    piece.clear();
    if (!over) fed.release();
    thread.join();
  }

  /// Hands the piece over and waits until more is wanted.
  void give(std::string bytes) {
    if (over) return;
    piece = std::move(bytes);
    fed.release();
    hungry.acquire();
  }

  static la_ssize_t take(archive* open, void* self, const void** bytes) {
    auto& from = *static_cast<reader*>(self);
    if (from.at_end) return 0;
    if (!from.stopped) {
      from.hungry.release();
      from.fed.acquire();
    }
    if (from.stopped) {
      ::archive_set_error(open, ECANCELED, "stopped");
      return ARCHIVE_FATAL;
    }
    from.at_end = from.piece.empty();
    from.count_zeros();
    *bytes = from.piece.data();
    return static_cast<la_ssize_t>(from.piece.size());
  }

  void count_zeros() {
    const auto last = std::find_if(piece.rbegin(), piece.rend(), [](char byte) { return byte != '\0'; });
    const auto count = static_cast<std::size_t>(last - piece.rbegin());
    zeros = count == piece.size() ? zeros + count : count;
  }

  void run() noexcept {
    try {
      extract();
    } catch (...) {
      failure = std::current_exception();
    }
    over = true;
    hungry.release();
  }

  void extract() {
    const std::unique_ptr<archive, read_closer> open(::archive_read_new());
    if (!open) throw std::bad_alloc();
    ::archive_read_support_format_tar(open.get());
    if (::archive_read_open(open.get(), this, nullptr, take, nullptr) != ARCHIVE_OK) refuse(open.get());
    for (;;) {
      archive_entry* entry = nullptr;
      const int result = ::archive_read_next_header(open.get(), &entry);
      if (result == ARCHIVE_EOF) break;
      if (result != ARCHIVE_OK && result != ARCHIVE_WARN) refuse(open.get());
      extraction.add(open.get(), entry);
    }
    const void* rest = nullptr;
    while (!at_end && !stopped) (void)take(open.get(), this, &rest);
    if (stopped) return;
    if (zeros < block_size) throw error(make_error_code(errc::protocol), "the tar stream breaks off");
    extraction.finish();
  }

  [[noreturn]] void refuse(archive* open) const {
    const char* const words = ::archive_error_string(open);
    throw error(make_error_code(errc::protocol), words != nullptr ? words : "not a tar stream");
  }

  tree_extraction extraction;
  std::string piece;
  std::size_t zeros = 0;
  bool at_end = false;   // the empty piece came
  bool stopped = false;  // no piece comes any more
  bool over = false;     // the thread has ended, or is about to
  std::exception_ptr failure;
  turn fed, hungry;
  std::thread thread;
};

tree_unpacker::tree_unpacker(std::shared_ptr<const path_scope> scope, const std::string& path, outside_links links,
                             last_link at_end) {
  open_tree top = at_end == last_link::follow ? scope->to_fill(path) : fill_no_link(*scope, path);
  reader_ = std::make_unique<reader>(std::move(scope), std::move(top), links);
  reader_->hungry.acquire();
}

tree_unpacker::~tree_unpacker() = default;

void tree_unpacker::feed(std::string piece) {
  if (!piece.empty()) reader_->give(std::move(piece));
  if (reader_->failure) std::rethrow_exception(reader_->failure);
}

void tree_unpacker::finish() {
  reader_->give({});
  if (reader_->failure) std::rethrow_exception(reader_->failure);
}

const transfer_progress& tree_unpacker::progress() const noexcept { return reader_->extraction.progress(); }

}  // namespace berth
