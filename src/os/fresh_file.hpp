#pragma once
/// A new file that gets its name once it is whole.

#include "os/unique_fd.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

namespace berth {

/// Begins as a file without a name in the directory where it will have one (O_TMPFILE), or under a temporary name where the
/// file system has no such thing. Destroyed before it was published, it leaves nothing. All functions block and throw as
/// `file_failure` does.
class fresh_file {
 public:
  enum class kind { nameless, named };

  /// `directory` must stay open. The mode is subject to the umask.
  fresh_file(int directory, mode_t mode, kind wanted = kind::nameless);
  fresh_file(const fresh_file&) = delete;
  fresh_file& operator=(const fresh_file&) = delete;
  ~fresh_file();

  void write(std::string_view bytes);
  int fd() const noexcept { return fd_.get(); }
  /// For who goes on writing once it is published. Nothing else may be called then.
  unique_fd take() noexcept { return std::move(fd_); }

  /// Gives it the name; false if something has it.
  bool publish_new(const std::string& name);
  /// Gives it the name, replacing a file or a link in one step.
  void publish(const std::string& name);

 private:
  bool link_to(const std::string& name);
  void name_temporarily();

  int directory_;
  unique_fd fd_;
  std::string temporary_;  // its name now; empty: none, or published
};

/// Names of temporary files, ours and those of killed writers, begin with it.
inline constexpr std::string_view temporary_prefix = ".berth-";

/// A name that nothing has, most likely.
std::string temporary_name();

}  // namespace berth
