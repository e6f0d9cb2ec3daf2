#pragma once
/// A directory as a tar stream.

#include "berth/files.hpp"
#include "os/directory_walk.hpp"
#include "os/path_patterns.hpp"
#include "os/path_scope.hpp"

#include <memory>
#include <string>
#include <vector>

struct archive;
struct archive_entry;

namespace berth {

/// Packs what is in a directory, piece by piece: ustar, with pax records where a name or a size needs them; names as bytes. Times
/// are whole seconds, hard links become files of their own, owners are left out. All functions block and throw as
/// `file_failure` does, naming the entry.
class tree_packer {
 public:
  static constexpr std::size_t piece_size = std::size_t{256} << 10;

  tree_packer(std::shared_ptr<const path_scope> scope, const std::string& path,
              const std::vector<std::string>& excluded);
  ~tree_packer();

  /// The next bytes of the stream, about piece_size of them; empty at its end.
  std::string next();
  const transfer_progress& progress() const noexcept { return progress_; }

 private:
  struct archive_closer {
    void operator()(archive* open) const noexcept;
  };

  void step();
  void begin_entry(const walked_entry& entry);
  void continue_file();
  void write_header(archive_entry* header, const std::string& path);
  void close();
  static long append(archive*, void* self, const void* bytes, std::size_t size);

  tree_packer(std::shared_ptr<const path_scope> scope, open_tree top, const std::vector<std::string>& excluded);

  std::shared_ptr<const path_scope> scope_;
  std::string top_;
  directory_walk walk_;
  path_patterns excluded_;
  std::string ready_;
  std::string buffer_;
  unique_fd file_;
  std::string file_path_;
  std::uint64_t file_left_ = 0;
  bool ended_ = false;
  bool dropped_ = false;
  transfer_progress progress_;
  std::unique_ptr<archive, archive_closer> archive_;
};

}  // namespace berth
