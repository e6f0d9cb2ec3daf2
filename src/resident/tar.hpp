#pragma once
/// Tar streams without I/O: ustar with pax records is written; read are also old headers and GNU's long names.

#include "resident/file_base.hpp"

namespace berth::resident {

inline constexpr std::size_t tar_block = 512;

/// One entry; the names hold no NUL.
struct tar_entry {
  enum kind : char { file = '0', hard_link = '1', symlink = '2', directory = '5', special = '6' };

  kind what = file;
  std::uint64_t size = 0;  ///< of a file's content
  std::uint32_t mode = 0;
  bool has_time = false;
  std::int64_t seconds = 0;
  std::uint32_t nanoseconds = 0;
  const char* path = "";
  const char* link = "";
};

/// Appends the header; then come `size` bytes and tar_padding(size) zeros. Whole seconds, no owners.
void put_tar_header(buffer& to, const tar_entry& entry);
inline std::size_t tar_padding(std::uint64_t size) {
  return static_cast<std::size_t>((tar_block - size % tar_block) % tar_block);
}
/// Two blocks of zeros.
void put_tar_end(buffer& to);

/// What a reader finds.
class tar_sink {
 public:
  virtual void begin(const tar_entry& entry) = 0;
  /// Content of the entry: all of it, before end().
  virtual void data(std::string_view bytes) = 0;
  virtual void end() = 0;

 protected:
  ~tar_sink() = default;
};

/// Takes a stream in pieces of any size.
class tar_reader {
 public:
  explicit tar_reader(tar_sink& to) : to_(to) {}

  /// What is wrong: none, not_tar or unknown_tar. After that it must not be called again.
  file_reason feed(std::string_view bytes);
  /// The stream has ended: none, or breaks_off.
  file_reason finish() const { return state_ == state::ended ? file_reason::none : file_reason::breaks_off; }

 private:
  enum class state { header, content, ignored, extension, padding, ended };
  /// What was said of the next entry before its header.
  struct extras {
    text path, link, records;
    bool has_path = false, has_link = false, has_size = false, has_time = false;
    std::uint64_t size = 0;
    std::int64_t seconds = 0;
    std::uint32_t nanoseconds = 0;
  };
  static constexpr std::uint64_t most_extension = 1u << 20;

  file_reason on_header();
  file_reason begin_extension(char type, std::uint64_t size);
  file_reason begin_entry(char type, std::uint64_t size);
  file_reason on_extension();
  file_reason on_record(std::string_view key, std::string_view value);
  file_reason on_body_end();
  void take_body(std::string_view bytes);
  void name_entry(tar_entry& entry);

  tar_sink& to_;
  state state_ = state::header;
  char block_[tar_block] = {};
  std::size_t have_ = 0;
  std::uint64_t left_ = 0;  ///< of the body, then of the padding
  std::size_t padding_ = 0;
  char extension_ = 0;  ///< its type
  text path_, link_;
  extras next_;
};

}  // namespace berth::resident
