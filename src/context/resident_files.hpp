#pragma once
/// The files of a place in which a resident lives.

#include "berth/backend.hpp"
#include "context/resident_file_verb.hpp"

#include <memory>
#include <string>
#include <vector>

namespace berth {

/// Each call is a command of the place: the resident's own program, which needs no shell, sees what commands see, and is nobody else
/// than they are. One that only looked stays for some seconds and answers the next that only looks. Codes and words of errors are
/// those of the host's files.
///
/// Cancel: of a write or an unpacking it returns once the program has ended, which removes what was not finished; else the program is killed.
class resident_files final : public backend_files {
 public:
  explicit resident_files(command_starter start) : start_(std::move(start)) {}

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
  command_starter start_;
  std::shared_ptr<resting_verbs> resting_ = std::make_shared<resting_verbs>();
};

/// Watches from when it returns.
task<std::unique_ptr<backend_watch>> watch_by_resident(command_starter start, std::string path, watch_options options);

}  // namespace berth
