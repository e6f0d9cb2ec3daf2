#include "os/pooled_files.hpp"

#include "core/gather.hpp"
#include "os/file_reader.hpp"
#include "os/file_replacement.hpp"
#include "os/tree_packer.hpp"
#include "os/tree_unpacker.hpp"

#include <optional>
#include <utility>

namespace berth {
namespace {

class file_source final : public byte_source {
 public:
  file_source(std::shared_ptr<blocking_pool> pool, std::shared_ptr<file_reader> reader, std::string first)
      : pool_(std::move(pool)), reader_(std::move(reader)), first_(std::move(first)) {}

  task<std::string> next() override {
    if (!first_.empty() || reader_->at_end()) return give(std::exchange(first_, {}));
    return read(pool_, reader_);
  }

 private:
  static task<std::string> give(std::string bytes) { co_return bytes; }
  static task<std::string> read(std::shared_ptr<blocking_pool> pool, std::shared_ptr<file_reader> from) {
    auto call = [from] { return from->read(); };
    auto calling = pool->run(std::move(call));
    co_return co_await std::move(calling);
  }

  std::shared_ptr<blocking_pool> pool_;
  std::shared_ptr<file_reader> reader_;
  std::string first_;
};

class pack_source final : public byte_source {
 public:
  pack_source(std::shared_ptr<blocking_pool> pool, std::shared_ptr<tree_packer> packer, progress_listener listener)
      : pool_(std::move(pool)), packer_(std::move(packer)), listener_(std::move(listener)) {}

  task<std::string> next() override { return read(pool_, packer_, listener_); }

 private:
  static task<std::string> read(std::shared_ptr<blocking_pool> pool, std::shared_ptr<tree_packer> from,
                                progress_listener listener) {
    auto call = [from] { return from->next(); };
    auto calling = pool->run(std::move(call));
    std::string piece = co_await std::move(calling);
    if (listener) listener(from->progress());
    co_return piece;
  }

  std::shared_ptr<blocking_pool> pool_;
  std::shared_ptr<tree_packer> packer_;
  progress_listener listener_;
};

task<void> feed(std::shared_ptr<blocking_pool> pool, std::shared_ptr<tree_unpacker> into, std::string piece) {
  const bool last = piece.empty();
  auto bytes = std::make_shared<std::string>(std::move(piece));
  auto call = [into, bytes, last] { last ? into->finish() : into->feed(std::move(*bytes)); };
  auto calling = pool->run(std::move(call));
  co_await std::move(calling);
}

}  // namespace

task<std::unique_ptr<byte_source>> open_file_source(file_work with, std::string path, read_options options) {
  auto first = std::make_shared<std::string>();
  auto open = [scope = with.scope, path = std::move(path), options, first] {
    auto reader = std::make_shared<file_reader>(*scope(), path, options);
    *first = reader->read();
    return reader;
  };
  auto opening = with.pool->run(std::move(open));
  auto reader = co_await std::move(opening);
  co_return std::make_unique<file_source>(with.pool, std::move(reader), std::move(*first));
}

task<void> write_from_source(file_work with, std::string path, std::unique_ptr<byte_source> bytes,
                             write_options options) {
  const auto target =
      std::make_shared<file_replacement>(std::move(with.scope), std::move(path), std::move(options), with.at_end);
  auto ready = std::make_shared<bool>(false);
  for (;;) {
    const auto piece = co_await gather(*bytes);
    for (bool more = true; more;) {
      auto call = [target, piece, ready] {
        if (!*ready && !(*ready = target->prepare())) return true;
        target->write(piece->bytes);
        if (piece->ended) target->commit();
        return false;
      };
      auto calling = with.pool->run(std::move(call));
      more = co_await std::move(calling);
    }
    if (piece->ended) break;
  }
}

task<std::unique_ptr<byte_source>> pack_tree(file_work with, std::string path, std::vector<std::string> excluded,
                                             progress_listener listener) {
  auto open = [scope = with.scope, path = std::move(path), excluded = std::move(excluded)] {
    return std::make_shared<tree_packer>(scope(), path, excluded);
  };
  auto opening = with.pool->run(std::move(open));
  auto packer = co_await std::move(opening);
  co_return std::make_unique<pack_source>(with.pool, std::move(packer), std::move(listener));
}

task<transfer_progress> unpack_tree(file_work with, std::string path, std::unique_ptr<byte_source> tar,
                                    outside_links links, progress_listener listener) {
  auto open = [scope = with.scope, path = std::move(path), links, at_end = with.at_end] {
    return std::make_shared<tree_unpacker>(scope(), path, links, at_end);
  };
  auto opening = with.pool->run(std::move(open));
  const auto unpacker = co_await std::move(opening);
  for (;;) {
    std::string piece = co_await tar->next();
    const bool last = piece.empty();
    co_await feed(with.pool, unpacker, std::move(piece));
    if (listener) listener(unpacker->progress());
    if (last) break;
  }
  co_return unpacker->progress();
}

}  // namespace berth
