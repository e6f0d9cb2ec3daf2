#pragma once
/// A new file that gets its name once it is whole.

#include "resident/file_base.hpp"

#include <sys/types.h>

namespace berth::resident {

/// A temporary name in a directory. There is one at a time; TERM, INT, HUP and every refusal remove what has it. Only KILL does not.
class temporary {
 public:
  /// The directory must stay open.
  explicit temporary(int directory);
  temporary(const temporary&) = delete;
  temporary& operator=(const temporary&) = delete;
  /// Removes what still has the name.
  ~temporary();

  const char* name() const;
  /// Another name: something had this one.
  void again();
  /// What has it gets its own name, replacing a file or a link.
  void rename_to(const char* name, std::string_view entry);

 private:
  int directory_;
};

void drop_temporary();
/// Signals that end a program remove the temporary name first; a lost reader and the limit of a file's size are no signals any more.
void watch_signals();

/// Begins without a name (O_TMPFILE), or under a temporary one where the file system has no such thing. Destroyed before it was
/// published, it leaves nothing.
class fresh_file {
 public:
  enum class kind { nameless, named };

  /// `directory` and `entry`, which refusals name, must stay. The mode is subject to the umask.
  fresh_file(int directory, mode_t mode, std::string_view entry = {}, kind wanted = kind::nameless);
  fresh_file(const fresh_file&) = delete;
  fresh_file& operator=(const fresh_file&) = delete;
  ~fresh_file();

  void write(std::string_view bytes);
  int fd() const { return fd_.get(); }
  /// Gives it the name; false if something has it.
  bool publish_new(const char* name);
  /// Gives it the name, replacing a file or a link in one step.
  void publish(const char* name);

 private:
  bool link_to(const char* name);

  int directory_;
  std::string_view entry_;
  file_fd fd_;
  temporary* name_ = nullptr;
};

}  // namespace berth::resident
