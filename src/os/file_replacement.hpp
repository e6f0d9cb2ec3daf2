#pragma once
/// Replacing a file in one step.

#include "berth/files.hpp"
#include "os/file_overwrite.hpp"
#include "os/fresh_file.hpp"
#include "os/last_link.hpp"
#include "os/path_scope.hpp"

#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace berth {

/// One write of a whole file: prepare until it is ready, write, commit. Destroyed before that, it leaves the old file as it was
/// and nothing else, except for directories that were made. All functions block and throw as `file_failure` does.
class file_replacement {
 public:
  file_replacement(scope_source scope, std::string path, write_options options, last_link at_end = last_link::follow);

  /// A bounded part of finding the file and comparing what it holds; true once it is ready.
  bool prepare();
  void write(std::string_view bytes) { in_place_ ? in_place_->write(bytes) : fresh_->write(bytes); }
  void commit();

 private:
  void find();
  void look_at_old();
  bool compare_some();
  void set_attributes();
  void commit_over_old();
  void check_expected(int locked) const;
  unique_fd lock_old() const;
  bool is_unchanged(const struct stat& now) const;
  std::string hash_of(int fd) const;
  [[noreturn]] void refuse_change() const;

  scope_source scope_;
  std::string path_;
  write_options options_;
  last_link at_end_;
  located where_;
  std::optional<struct stat> old_;  // what is replaced
  unique_fd old_fd_;
  std::optional<content_hasher> hashing_;
  std::uint64_t hashed_ = 0;
  std::optional<fresh_file> fresh_;
  std::optional<file_overwrite> in_place_;  ///< in its stead, where nothing can be made beside the file
};

}  // namespace berth
