#pragma once
/// What the resident's file verbs are asked and what they answer: shared by both ends. docs/resident.md describes every byte.

#include "wire/frame.hpp"

namespace berth::wire {

/// What a start names as its program to run the resident itself: until a child has executed something else, this is it.
inline constexpr const char* own_program = "/proc/self/exe";
/// Its first word then; a verb and the verb's words follow.
inline constexpr const char* file_word = "file";

/// A verb as the program sees it: text, so that it is an ordinary command.
namespace verb {
inline constexpr const char *stat = "stat", *list = "list", *make = "mkdir", *remove = "remove", *rename = "rename",
                            *read = "read", *write = "write", *pack = "pack", *unpack = "unpack", *watch = "watch",
                            *serve = "serve";
}

/// Of `serve`: stat, list and read, one after another. A question is a piece with the words of the verb, a NUL behind each; there is
/// no end mark. It is answered as the verb would, without an end.
inline constexpr std::size_t max_question = 64u << 10;
inline constexpr int serve_idle_ms = 5000;  ///< without a question it ends

enum write_flag : std::uint32_t { write_absent = 1, write_parents = 2, write_durable = 4 };
/// In place of a mode or a hash that is not given.
inline constexpr const char* not_given = "-";

// ---- records: a u32 size of what follows, a u8 type, fields

enum class record_type : std::uint8_t {
  // on standard error
  ready = 1,    ///< of a watch: from now on nothing is missed
  done = 2,     ///< u64 bytes that went to standard output: all of them
  failed = 3,   ///< file_failure_fields
  skipped = 4,  ///< bytes path: it cannot be carried
  // on standard output
  entry = 16,   ///< entry_fields
  event = 17,   ///< u8 kind, bytes path
  looked = 18,  ///< what happened until the question came was told
};

inline constexpr std::size_t record_header = 5;
inline constexpr std::uint32_t max_record = 1u << 20;

/// What a stream of records begins with: a whole one leaves type and fields, and is `record_header + fields.size()` bytes long.
inline parse_result parse_record(std::string_view in, record_type& type, std::string_view& fields) noexcept {
  reader r(in);
  const std::uint32_t size = r.u32();
  type = static_cast<record_type>(r.u8());
  if (in.size() < record_header) return parse_result::need_more;
  if (size > max_record) return parse_result::broken;
  if (in.size() - record_header < size) return parse_result::need_more;
  fields = r.raw(size);
  return parse_result::frame;
}

template <class Sink>
void put_record_header(Sink& to, record_type type, std::size_t size) {
  writer(to).u32(static_cast<std::uint32_t>(size)).u8(static_cast<std::uint8_t>(type));
}

/// Why a verb failed, beside errno: a step, or what no errno says.
enum class file_reason : std::uint32_t {
  none = 0,
  compare = 1,
  make_file = 2,
  give_name = 3,
  temporary_name = 4,
  directory_above = 5,
  hard_link = 6,
  inotify = 7,
  // With these errno says nothing.
  not_regular = 32,
  gone = 33,
  changed = 34,
  locked = 35,
  other_file_system = 36,
  shorter = 37,
  no_watches = 38,
  watch_ended = 39,
  breaks_off = 48,  ///< a tar stream
  not_tar = 49,
  unknown_tar = 50,  ///< a kind of entry that the resident does not know
  no_name = 51,
  absolute = 52,
  leads_out = 53,
  no_target = 54,
  link_leads_out = 55,  ///< a hard link
  input_ended = 64,     ///< before its end mark
  request = 65,         ///< words that are no verb's
};

struct file_failure_fields {
  std::uint32_t error = 0;  ///< errno
  file_reason reason = file_reason::none;
  std::string_view path;  ///< below the one that was asked for; empty: that itself

  std::size_t size() const noexcept { return 12 + path.size(); }
  template <class Sink>
  void put(Sink& to) const {
    writer(to).u32(error).u32(static_cast<std::uint32_t>(reason)).bytes(path);
  }
  bool get(std::string_view in) noexcept {
    reader r(in);
    error = r.u32();
    reason = static_cast<file_reason>(r.u32());
    path = r.bytes();
    return r.done();
  }
};

enum class entry_kind : std::uint8_t { regular = 0, directory = 1, symlink = 2, other = 3 };

struct entry_fields {
  entry_kind kind = entry_kind::other;
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
  std::int64_t seconds = 0;  ///< last change of the content
  std::uint32_t nanoseconds = 0;
  std::string_view path;
  std::string_view target;  ///< of a link

  std::size_t encoded_size() const noexcept { return 33 + path.size() + target.size(); }
  template <class Sink>
  void put(Sink& to) const {
    writer(to).u8(static_cast<std::uint8_t>(kind)).u32(mode).u64(size).u64(static_cast<std::uint64_t>(seconds));
    writer(to).u32(nanoseconds).bytes(path).bytes(target);
  }
  bool get(std::string_view in) noexcept {
    reader r(in);
    kind = static_cast<entry_kind>(r.u8());
    mode = r.u32();
    size = r.u64();
    seconds = static_cast<std::int64_t>(r.u64());
    nanoseconds = r.u32();
    path = r.bytes();
    target = r.bytes();
    return r.done() && kind <= entry_kind::other && nanoseconds < 1000000000;
  }
};

// ---- standard input of a verb that takes bytes: pieces, each a u32 size and its bytes; a size of 0 is the end mark

inline constexpr std::size_t piece_header = 4;

template <class Sink>
void put_piece_header(Sink& to, std::size_t size) {
  writer(to).u32(static_cast<std::uint32_t>(size));
}

/// Takes a stream of pieces apart, however it was cut.
class piece_parser {
 public:
  enum class found { need_more, bytes, end };
  /// Takes something off the front of `in`.
  found next(std::string_view& in, std::string_view& bytes) noexcept {
    while (!ended_ && left_ == 0) {
      if (in.empty()) return found::need_more;
      size_ |= std::uint32_t{static_cast<unsigned char>(in.front())} << (8 * have_);
      in.remove_prefix(1);
      if (++have_ < piece_header) continue;
      ended_ = size_ == 0;
      left_ = size_;
      have_ = size_ = 0;
    }
    if (ended_) return found::end;
    if (in.empty()) return found::need_more;
    bytes = part(in, 0, left_);
    in.remove_prefix(bytes.size());
    left_ -= static_cast<std::uint32_t>(bytes.size());
    return found::bytes;
  }

 private:
  std::uint32_t left_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t have_ = 0;
  bool ended_ = false;
};

}  // namespace berth::wire
