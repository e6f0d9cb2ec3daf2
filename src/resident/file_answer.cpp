#include "resident/file_answer.hpp"

#include "resident/fresh_file.hpp"

#include <fcntl.h>

namespace berth::resident {
namespace {

constexpr ssize_t usual_pipe = 64 << 10;
constexpr int full_before_large = 4;

}  // namespace

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      drop_temporary();
      _exit(1);
    }
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void output::flush() {
  sent_ += all_.size();
  write_all(1, all_.view());
  all_.clear();
}

void refuse(file_reason reason, int error, std::string_view path) {
  drop_temporary();
  const wire::file_failure_fields fields{static_cast<std::uint32_t>(error), reason, path};
  buffer answer;
  wire::put_record_header(answer, wire::record_type::failed, fields.size());
  fields.put(answer);
  write_all(2, answer.view());
  _exit(1);
}

void answer_ready() {
  buffer answer;
  wire::put_record_header(answer, wire::record_type::ready, 0);
  write_all(2, answer.view());
}

void answer_skipped(std::string_view path) {
  buffer answer;
  wire::put_record_header(answer, wire::record_type::skipped, 4 + path.size());
  wire::writer(answer).bytes(path);
  write_all(2, answer.view());
}

void answer_done(std::uint64_t sent) {
  buffer answer;
  wire::put_record_header(answer, wire::record_type::done, 8);
  wire::writer(answer).u64(sent);
  write_all(2, answer.view());
}

std::string_view input::next() {
  for (;;) {
    std::string_view bytes;
    const auto found = parser_.next(rest_, bytes);
    if (found == wire::piece_parser::found::bytes) return bytes;
    if (found == wire::piece_parser::found::end) return {};
    ssize_t got = 0;
    do {
      got = read(0, space_.data(), space_.size());
    } while (got < 0 && errno == EINTR);
    if (check(got) == 0) refuse(file_reason::input_ended, 0);
    // Much comes: fewer turns between its writer and us. No more, since all unprivileged pipes of a user share 64 MiB.
    if (got == usual_pipe && ++full_ == full_before_large) fcntl(0, F_SETPIPE_SZ, space_.size());
    rest_ = {space_.data(), static_cast<std::size_t>(got)};
  }
}

}  // namespace berth::resident
