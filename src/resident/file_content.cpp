#include "resident/file_content.hpp"

#include "resident/file_answer.hpp"
#include "resident/file_verbs.hpp"

#include <fcntl.h>
#include <stdio.h>

// All of it in this file: no library.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace berth::resident {
namespace {

constexpr int reading_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr std::size_t piece_size = 256u << 10;

void check_regular(mode_t mode) {
  if (S_ISDIR(mode)) refuse(file_reason::none, EISDIR);
  if (!S_ISREG(mode)) refuse(file_reason::not_regular, 0);
}

/// As much as there is of what is wanted.
std::size_t read_at(int fd, char* into, std::size_t wanted, std::uint64_t offset, file_reason step) {
  std::size_t done = 0;
  while (done < wanted) {
    const ssize_t got = pread(fd, into + done, wanted - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (check(got, step) == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace

file_fd open_regular(const located& where) {
  const file_fd seen(openat(where.directory.get(), where.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  check(seen.get());
  struct stat found {};
  check(fstat(seen.get(), &found));
  check_regular(found.st_mode);
  char through[40];
  snprintf(through, sizeof through, "/proc/self/fd/%d", seen.get());
  file_fd opened(open(through, reading_flags));
  if (opened) return opened;
  if (errno != ENOENT) refuse(file_reason::none, errno);
  // Without /proc: what was opened may be another by now, so it is looked at again.
  opened.reset(openat(where.directory.get(), where.name.c_str(), reading_flags | O_NOFOLLOW));
  check(opened.get());
  check(fstat(opened.get(), &found));
  check_regular(found.st_mode);
  return opened;
}

content_hasher::content_hasher() : state_(XXH3_createState()) {
  if (state_ == nullptr) out_of_memory();
  XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_));
}

content_hasher::~content_hasher() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }

void content_hasher::update(std::string_view bytes) {
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), bytes.data(), bytes.size());
}

text content_hasher::finish() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_));
  char digits[40];
  snprintf(digits, sizeof digits, "xxh3:%016llx%016llx", static_cast<unsigned long long>(hash.high64),
           static_cast<unsigned long long>(hash.low64));
  return text{std::string_view(digits)};
}

text hash_of(int fd) {
  content_hasher hash;
  const block piece(piece_size);
  for (std::uint64_t at = 0;;) {
    const std::size_t got = read_at(fd, piece.data(), piece.size(), at, file_reason::compare);
    hash.update({piece.data(), got});
    at += got;
    if (got < piece.size()) return hash.finish();
  }
}

void read_file(const char* path, std::uint64_t offset, std::uint64_t limit) {
  constexpr std::uint64_t last = ~std::uint64_t{0} >> 1;
  if (std::string_view(path).ends_with('/')) open_path(path, O_PATH | O_DIRECTORY);  // says what is wrong, or it is one
  const file_fd file = open_regular(target_of(path));
  std::uint64_t left = offset > last ? 0 : limit;
  std::uint64_t sent = 0;
  const block piece(left < piece_size ? static_cast<std::size_t>(left) + 1 : piece_size);
  while (left > 0) {
    const std::size_t wanted = left < piece.size() ? static_cast<std::size_t>(left) : piece.size();
    const std::size_t got = read_at(file.get(), piece.data(), wanted, offset + sent, file_reason::none);
    write_all(1, {piece.data(), got});
    sent += got;
    left -= got;
    if (got < wanted) break;
  }
  answer_done(sent);
}

}  // namespace berth::resident
