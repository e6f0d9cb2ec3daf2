#pragma once
/// Entries of an archive, made below one directory and nowhere else.

#include "resident/fresh_file.hpp"
#include "resident/tar.hpp"

#include <sys/stat.h>
#include <time.h>

namespace berth::resident {

/// Makes files whole or not at all, replaces what is no directory, and never goes through a link: neither one that the archive made
/// nor one that was there. Owners, set-user-id bits and special files are left out. Refuses naming the entry.
class tar_extraction final : public tar_sink {
 public:
  explicit tar_extraction(file_fd top) : top_(static_cast<file_fd&&>(top)) {}
  tar_extraction(const tar_extraction&) = delete;
  tar_extraction& operator=(const tar_extraction&) = delete;
  ~tar_extraction();

  void begin(const tar_entry& entry) override;
  void data(std::string_view bytes) override;
  void end() override;
  /// Gives directories their modes and times, now that all is in them.
  void finish();

 private:
  struct made_directory {
    text path;
    mode_t mode;
    timespec modified;
  };

  /// Appends the name in its plain form, nothing for the directory itself; false if it leads out.
  static bool clean(std::string_view path, text& plain);
  int enter(std::string_view directory);
  void make_on_way(std::string_view directory);
  void make_directory(int directory, const char* name, const tar_entry& entry);
  void make_link(int directory, const char* name, const tar_entry& entry);
  void make_hard_link(int directory, const char* name, std::string_view target);
  void refuse_directory(int directory, const char* name) const;
  [[noreturn]] void fail(file_reason step) const { refuse(step, errno, path_.view()); }

  file_fd top_;
  text entered_path_;
  file_fd entered_;
  row<made_directory> directories_;
  // The entry at work.
  text path_;
  text name_;
  fresh_file* fresh_ = nullptr;
  int directory_ = -1;
  mode_t mode_ = 0;
  timespec modified_ = {};
};

}  // namespace berth::resident
