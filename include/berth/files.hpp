#pragma once
/// Files of a place: what is known of one, streams of bytes, and the options of the calls that read and write them.

#include <berth/api.hpp>
#include <berth/callback.hpp>
#include <berth/task.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace berth {

enum class file_type : std::uint8_t { regular, directory, symlink, other };

BERTH_API std::string_view to_string(file_type type) noexcept;

/// What is known of one file, directory or link. Links are described themselves, not what they point at.
class BERTH_API file_info {
 public:
  using time_point = std::chrono::system_clock::time_point;

  file_info() = default;
  file_info(std::string path, file_type type) : path_(std::move(path)), type_(type) {}

  file_info& size(std::uint64_t bytes) & {
    size_ = bytes;
    return *this;
  }
  file_info& modified(time_point when) & {
    modified_ = when;
    return *this;
  }
  file_info& mode(unsigned bits) & {
    mode_ = bits;
    return *this;
  }
  file_info& link_target(std::string target) & {
    link_target_ = std::move(target);
    return *this;
  }

  /// Of `stat`: absolute. Of `list_files`: below the listed directory, as "sub/name". Bytes as the place has them: a name
  /// may hold newlines and need not be UTF-8.
  const std::string& path() const noexcept { return path_; }
  /// The last component of the path.
  std::string_view name() const noexcept;
  file_type type() const noexcept { return type_; }
  bool is_directory() const noexcept { return type_ == file_type::directory; }
  bool is_regular() const noexcept { return type_ == file_type::regular; }
  /// In bytes; 0 for all but regular files.
  std::uint64_t size() const noexcept { return size_; }
  time_point modified() const noexcept { return modified_; }
  /// Permission bits: 0 to 07777.
  unsigned mode() const noexcept { return mode_; }
  /// What a link says, as it is written there; empty for all but links.
  const std::string& link_target() const noexcept { return link_target_; }

 private:
  std::string path_;
  file_type type_ = file_type::other;
  std::uint64_t size_ = 0;
  time_point modified_;
  unsigned mode_ = 0;
  std::string link_target_;
};

/// A stream of bytes. Implement it to feed `write_file` from a producer.
class BERTH_API byte_source {
 public:
  virtual ~byte_source() = default;
  /// The next piece, of any size; empty once the stream has ended, and ever after. One caller at a time.
  virtual task<std::string> next() = 0;
};

/// A stream of one piece.
BERTH_API std::unique_ptr<byte_source> make_byte_source(std::string bytes);

/// "xxh3:" and 32 digits: tells whether bytes have changed. Not a cryptographic hash; it does not withstand one who wants two
/// contents to look alike.
BERTH_API std::string content_hash(std::string_view bytes);

/// The same hash, of bytes that come in pieces.
class BERTH_API content_hasher {
 public:
  content_hasher();
  content_hasher(content_hasher&&) noexcept;
  content_hasher& operator=(content_hasher&&) noexcept;
  ~content_hasher();

  void update(std::string_view bytes);
  /// Of what came until now.
  std::string finish() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Which part of a file is read. Default: all of it.
class BERTH_API read_options {
 public:
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

  read_options() = default;
  read_options(std::uint64_t offset, std::uint64_t limit) : offset_(offset), limit_(limit) {}

  /// First byte. A range that begins behind the end is empty, not an error.
  read_options& offset(std::uint64_t bytes) & {
    offset_ = bytes;
    return *this;
  }
  /// Most bytes.
  read_options& limit(std::uint64_t bytes) & {
    limit_ = bytes;
    return *this;
  }
  read_options offset(std::uint64_t bytes) && { return std::move(offset(bytes)); }
  read_options limit(std::uint64_t bytes) && { return std::move(limit(bytes)); }

  std::uint64_t offset() const noexcept { return offset_; }
  std::uint64_t limit() const noexcept { return limit_; }

 private:
  std::uint64_t offset_ = 0;
  std::uint64_t limit_ = unlimited;
};

/// How a file is written.
class BERTH_API write_options {
 public:
  write_options() = default;

  /// Permission bits, 0 to 0777. Default: those of the file that is replaced; 0666 less the umask for a new one.
  write_options& mode(unsigned bits) & {
    mode_ = bits;
    return *this;
  }
  /// Replaces the file only while `content_hash` of it is this: errc::conflict if it changed since, or is gone.
  write_options& expect_hash(std::string hash) & {
    expected_hash_ = std::move(hash);
    return *this;
  }
  /// Only makes a new file: errc::already_exists if there is one.
  write_options& expect_absent(bool on = true) & {
    expect_absent_ = on;
    return *this;
  }
  /// Makes missing directories of the path. Default: yes.
  write_options& make_parents(bool on) & {
    make_parents_ = on;
    return *this;
  }
  /// Returns once the bytes are on the disk: they survive a power cut. Default: no, they survive the death of processes.
  write_options& durable(bool on = true) & {
    durable_ = on;
    return *this;
  }
  write_options mode(unsigned bits) && { return std::move(mode(bits)); }
  write_options expect_hash(std::string hash) && { return std::move(expect_hash(std::move(hash))); }
  write_options expect_absent(bool on = true) && { return std::move(expect_absent(on)); }
  write_options make_parents(bool on) && { return std::move(make_parents(on)); }
  write_options durable(bool on = true) && { return std::move(durable(on)); }

  const std::optional<unsigned>& mode() const noexcept { return mode_; }
  const std::optional<std::string>& expected_hash() const noexcept { return expected_hash_; }
  bool expects_absent() const noexcept { return expect_absent_; }
  bool makes_parents() const noexcept { return make_parents_; }
  bool is_durable() const noexcept { return durable_; }

  /// Throws errc::invalid_argument naming the first field that cannot be.
  void validate() const;

 private:
  std::optional<unsigned> mode_;
  std::optional<std::string> expected_hash_;
  bool expect_absent_ = false;
  bool make_parents_ = true;
  bool durable_ = false;
};

/// How deep a directory is listed.
class BERTH_API list_options {
 public:
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  list_options() = default;

  /// Levels below the directory; at least 1, the default. Links are not followed.
  list_options& depth(std::size_t levels) & {
    depth_ = levels;
    return *this;
  }
  /// Every level.
  list_options& recursive() & { return depth(unlimited); }
  list_options depth(std::size_t levels) && { return std::move(depth(levels)); }
  list_options recursive() && { return std::move(recursive()); }

  std::size_t depth() const noexcept { return depth_; }

 private:
  std::size_t depth_ = 1;
};

/// What may be removed.
class BERTH_API remove_options {
 public:
  remove_options() = default;

  /// A directory goes with all that is in it. Default: only an empty one goes.
  remove_options& recursive(bool on = true) & {
    recursive_ = on;
    return *this;
  }
  remove_options recursive(bool on = true) && { return std::move(recursive(on)); }

  bool is_recursive() const noexcept { return recursive_; }

 private:
  bool recursive_ = false;
};

/// What a transfer has done until now, or did.
class BERTH_API transfer_progress {
 public:
  transfer_progress() = default;
  transfer_progress(std::uint64_t entries, std::uint64_t bytes) : entries_(entries), bytes_(bytes) {}

  /// Files, directories and links.
  std::uint64_t entries() const noexcept { return entries_; }
  /// Content of files.
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// What was left out because it cannot be carried or is not safe to make: sockets, fifos, devices, and in downloads links that
  /// lead out of the tree. At most 100 names are kept.
  const std::vector<std::string>& skipped() const noexcept { return skipped_; }
  void skip(std::string path) {
    if (skipped_.size() < 100) skipped_.push_back(std::move(path));
  }
  void add(std::uint64_t entries, std::uint64_t bytes) noexcept {
    entries_ += entries;
    bytes_ += bytes;
  }

 private:
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<std::string> skipped_;
};

/// What of a tree is carried, and who hears of it.
class BERTH_API transfer_options {
 public:
  using progress_function = std::function<void(const transfer_progress&)>;

  transfer_options() = default;

  /// Leaves out what matches, and all below it. As a line of .gitignore: `*` and `?` do not match a slash, `**` does; with a slash
  /// before its end the pattern starts at the top of the tree, without one it matches at any depth; a slash at its
  /// end means directories only. May be called more than once.
  transfer_options& exclude(std::string pattern) & {
    excluded_.push_back(std::move(pattern));
    return *this;
  }
  /// Called as the transfer goes on, at most once for each piece of it, and at its end. What it throws ends the transfer.
  template <class Callback>
  requires std::invocable < std::remove_reference_t<Callback>
  &, const transfer_progress& > transfer_options& on_progress(Callback&& callback) & {
    static_assert(named_callback<Callback>,
                  "on_progress: give the callback a name before the call: auto callback = [...](...) {...};");
    on_progress_ = std::forward<Callback>(callback);
    return *this;
  }
  /// A download also makes links that lead out of the tree. Default: it leaves them out and names them in `skipped`. An upload
  /// makes them always.
  transfer_options& keep_outside_links(bool on = true) & {
    keep_outside_links_ = on;
    return *this;
  }
  transfer_options exclude(std::string pattern) && { return std::move(exclude(std::move(pattern))); }
  template <class Callback>
  requires std::invocable < std::remove_reference_t<Callback>
  &, const transfer_progress& > transfer_options on_progress(Callback&& callback) && {
    return std::move(on_progress(std::forward<Callback>(callback)));
  }
  transfer_options keep_outside_links(bool on = true) && { return std::move(keep_outside_links(on)); }

  const std::vector<std::string>& excluded() const noexcept { return excluded_; }
  const progress_function& on_progress() const noexcept { return on_progress_; }
  bool keeps_outside_links() const noexcept { return keep_outside_links_; }

 private:
  std::vector<std::string> excluded_;
  progress_function on_progress_;
  bool keep_outside_links_ = false;
};

enum class watch_kind : std::uint8_t {
  created,   ///< it is there and was not, or was replaced by a rename
  modified,  ///< its content, mode or times changed
  removed,   ///< it is gone, or was renamed away
  overflow,  ///< too much happened at once and some of it was lost: look at everything again
};

BERTH_API std::string_view to_string(watch_kind kind) noexcept;

/// One path that changed.
class BERTH_API watch_event {
 public:
  watch_event() = default;
  watch_event(watch_kind kind, std::string path) : kind_(kind), path_(std::move(path)) {}

  watch_kind kind() const noexcept { return kind_; }
  /// Below the watched directory, as "sub/name"; the name of a watched file; empty for overflow; "." once the watched
  /// directory itself was removed.
  const std::string& path() const noexcept { return path_; }

  bool operator==(const watch_event&) const = default;

 private:
  watch_kind kind_ = watch_kind::overflow;
  std::string path_;
};

/// What is watched.
class BERTH_API watch_options {
 public:
  watch_options() = default;

  /// Also watches directories below, those too that are made later. Default: no.
  watch_options& recursive(bool on = true) & {
    recursive_ = on;
    return *this;
  }
  watch_options recursive(bool on = true) && { return std::move(recursive(on)); }

  bool is_recursive() const noexcept { return recursive_; }

 private:
  bool recursive_ = false;
};

class backend_watch;

/// Tells what changes. Movable, not copyable; it watches from when `context::watch` returned until it is destroyed.
class BERTH_API watcher {
 public:
  watcher();
  explicit watcher(std::shared_ptr<backend_watch> source);
  watcher(watcher&&) noexcept;
  watcher& operator=(watcher&&) noexcept;
  ~watcher();

  /// Waits for a change, gathers for 50 ms, and gives one event for each path that changed, in the order of first change. Of what was made
  /// and removed again within that time nothing is told.
  /// Errors: not_found once the watched directory is gone.
  /// Cancel: ends the wait; what was gathered is told by the next call.
  task<std::vector<watch_event>> next() &;

 private:
  struct state;
  static task<std::vector<watch_event>> next_of(std::shared_ptr<state> self);

  std::shared_ptr<state> state_;
};

}  // namespace berth
