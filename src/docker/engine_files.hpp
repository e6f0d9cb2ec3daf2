#pragma once
/// Files of a container in which no resident lives, by the Engine's archives and by programs of the image.

#include "berth/backend.hpp"
#include "docker/container_user.hpp"

#include <memory>
#include <string>
#include <vector>

namespace berth {

/// Where files are, and whose they become.
struct engine_files_place {
  container box;
  std::string user = {};      ///< as in the options; empty: the container's
  container_user owner = {};  ///< who that is
  /// A tmpfs that the daemon's archives do not reach: what is put there is lost without a word, so all is refused.
  std::vector<std::string> memory_directories = {};
};

/// Archives are held in memory, to list a directory too, and replace a file in more than one step. Removing and renaming need `rm`,
/// `rmdir` and `mv` in the container.
/// Errors also: unsupported for an expected hash, durable writes, watches, and a tmpfs; limit_exceeded beyond 256 MiB.
class engine_files final : public backend_files {
 public:
  explicit engine_files(engine_files_place place)
      : place_(std::make_shared<const engine_files_place>(std::move(place))) {}

  task<file_info> stat(std::string path) override;
  task<std::vector<file_info>> list(std::string path, list_options options) override;
  task<void> make_directory(std::string path) override;
  task<void> remove(std::string path, remove_options options) override;
  task<void> rename(std::string from, std::string to) override;
  task<std::unique_ptr<byte_source>> open(std::string path, read_options options) override;
  task<void> write(std::string path, std::unique_ptr<byte_source> bytes, write_options options) override;
  task<std::unique_ptr<byte_source>> pack(std::string path, std::vector<std::string> excluded,
                                          std::function<void(std::string)> skipped) override;
  task<void> unpack(std::string path, std::unique_ptr<byte_source> tar) override;
  task<std::unique_ptr<backend_watch>> watch(std::string path, watch_options options) override;

 private:
  std::shared_ptr<const engine_files_place> place_;
};

}  // namespace berth
