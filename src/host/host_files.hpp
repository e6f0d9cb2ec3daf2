#pragma once
/// The files of this host.

#include "berth/backend.hpp"
#include "os/pooled_files.hpp"

#include <asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace berth {

/// Below the roots that it was given, on the pool.
class host_files final : public backend_files {
 public:
  host_files(asio::any_io_executor executor, file_work with) : executor_(std::move(executor)), with_(std::move(with)) {}

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
  asio::any_io_executor executor_;
  file_work with_;
};

}  // namespace berth
