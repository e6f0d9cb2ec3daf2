#pragma once
/// Entries of an archive, made below one directory and nowhere else.

#include "berth/files.hpp"
#include "os/path_scope.hpp"
#include "os/unique_fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct archive;
struct archive_entry;

namespace berth {

/// What is done with links that lead out of the tree.
enum class outside_links { keep, skip };

/// May a link at the path (relative, without `..`) lead out of the tree? True for every absolute target, and wherever it takes
/// other links to tell.
bool leads_outside(std::string_view path, std::string_view target);

/// Makes files whole or not at all, replaces what is no directory, and never goes through a link: neither one that the archive made
/// nor one that was there. Owners, set-user-id bits and special files are left out. All functions block and throw as
/// `file_failure` does, naming the entry; errc::protocol for a name that leads out.
class tree_extraction {
 public:
  /// `top` is what the scope's to_fill gave.
  tree_extraction(std::shared_ptr<const path_scope> scope, open_tree top, outside_links links)
      : scope_(std::move(scope)), tree_(std::move(top)), links_(links) {}

  void add(archive* from, archive_entry* entry);
  /// Gives directories their modes and times, now that all is in them.
  void finish();
  const transfer_progress& progress() const noexcept { return progress_; }

 private:
  struct made_directory {
    std::string path;
    mode_t mode;
    timespec modified;
  };
  struct place {
    int directory;
    std::string name;
  };

  place place_of(const std::string& path);
  void enter(const std::string& directory);
  void make(archive* from, archive_entry* entry, const std::string& path);
  void make_file(archive* from, archive_entry* entry, const place& where);
  void make_directory(archive_entry* entry, const place& where, const std::string& path);
  void make_link(archive_entry* entry, const place& where, const std::string& path);
  void make_hard_link(const std::string& target, const place& where);

  int top() const noexcept { return tree_.directory.get(); }

  std::shared_ptr<const path_scope> scope_;
  open_tree tree_;
  outside_links links_;
  std::string entered_path_;
  unique_fd entered_;
  std::vector<made_directory> directories_;
  transfer_progress progress_;
};

}  // namespace berth
