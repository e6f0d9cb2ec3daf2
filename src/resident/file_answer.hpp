#pragma once
/// What a verb says: records and bytes on standard output, answers on standard error.

#include "resident/file_base.hpp"

namespace berth::resident {

/// Standard output, gathered.
class output {
 public:
  void bytes(std::string_view v) {
    all_.append(v.data(), v.size());
    if (all_.size() >= flush_at) flush();
  }
  template <class Fields>
  void record(wire::record_type type, const Fields& fields, std::size_t size) {
    wire::put_record_header(all_, type, size);
    fields.put(all_);
    if (all_.size() >= flush_at) flush();
  }
  /// To be appended to, then flushed.
  buffer& raw() { return all_; }
  void flush();
  bool is_full() const { return all_.size() >= flush_at; }
  /// All that went out.
  std::uint64_t sent() const { return sent_; }

 private:
  static constexpr std::size_t flush_at = 128u << 10;
  buffer all_;
  std::uint64_t sent_ = 0;
};

/// Ends the program if nobody reads.
void write_all(int fd, std::string_view bytes);

void answer_ready();
void answer_skipped(std::string_view path);
/// The last word of a verb: all of it is done, and `sent` bytes went to standard output.
void answer_done(std::uint64_t sent = 0);

/// Standard input in pieces.
class input {
 public:
  /// The next bytes, valid until the next call; none behind the end mark. Refuses a stream that ends before it.
  std::string_view next();

 private:
  block space_{256u << 10};
  std::string_view rest_;
  wire::piece_parser parser_;
  int full_ = 0;
};

}  // namespace berth::resident
