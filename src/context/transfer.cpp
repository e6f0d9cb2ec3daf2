#include "context/transfer.hpp"

#include "os/file_tree.hpp"
#include "os/pooled_files.hpp"

#include <berth/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <optional>
#include <system_error>
#include <utility>

namespace berth {
namespace {

constexpr mode_t permission_bits = 0777;

/// Keeps the last news and passes them on.
class news {
 public:
  explicit news(transfer_options::progress_function listener) : listener_(std::move(listener)) {}

  void tell(const transfer_progress& progress) {
    last_ = progress;
    if (listener_) listener_(last_);
  }
  const transfer_progress& last() const noexcept { return last_; }

  static progress_listener listener(std::shared_ptr<news> self) {
    return [self = std::move(self)](const transfer_progress& progress) { self->tell(progress); };
  }

 private:
  transfer_options::progress_function listener_;
  transfer_progress last_;
};

/// A single file on its way.
class counted_source final : public byte_source {
 public:
  counted_source(std::unique_ptr<byte_source> from, std::shared_ptr<news> heard)
      : from_(std::move(from)), heard_(std::move(heard)) {}

  task<std::string> next() override { return next_of(from_, heard_); }

 private:
  static task<std::string> next_of(std::shared_ptr<byte_source> from, std::shared_ptr<news> heard) {
    std::string piece = co_await from->next();
    heard->tell(transfer_progress(piece.empty() ? 1 : 0, heard->last().bytes() + piece.size()));
    co_return piece;
  }

  std::shared_ptr<byte_source> from_;
  std::shared_ptr<news> heard_;
};

std::unique_ptr<byte_source> counted(std::unique_ptr<byte_source> from, std::shared_ptr<news> heard) {
  return std::make_unique<counted_source>(std::move(from), std::move(heard));
}

/// What is downloaded may go where commands write: they could make a link of its name.
file_work local(const transfer_ends& ends) {
  file_work with;
  with.pool = ends.pool;
  with.at_end = last_link::refuse;
  return with;
}

task<void> upload_file(transfer_ends ends, std::shared_ptr<news> heard, unsigned mode) {
  auto from = co_await open_file_source(local(ends), ends.on_host, read_options());
  auto bytes = counted(std::move(from), std::move(heard));
  co_await ends.place->files()->write(ends.in_place, std::move(bytes), write_options().mode(mode));
}

task<void> upload_tree(transfer_ends ends, std::shared_ptr<news> heard, std::vector<std::string> excluded) {
  auto listener = news::listener(std::move(heard));
  auto tar = co_await pack_tree(local(ends), ends.on_host, std::move(excluded), std::move(listener));
  co_await ends.place->files()->unpack(ends.in_place, std::move(tar));
}

/// False for a directory.
task<bool> download_file(transfer_ends ends, std::shared_ptr<news> heard, file_info known) {
  std::unique_ptr<byte_source> from;
  try {
    from = co_await ends.place->files()->open(ends.in_place, read_options());
  } catch (const std::system_error& failure) {
    if (failure.code() != errc::is_a_directory) throw;
    co_return false;
  }
  write_options options;
  if (known.is_regular()) options.mode(known.mode() & permission_bits);
  auto bytes = counted(std::move(from), std::move(heard));
  co_await write_from_source(local(ends), ends.on_host, std::move(bytes), std::move(options));
  co_return true;
}

}  // namespace

task<transfer_progress> upload_to(transfer_ends ends, transfer_options options) {
  const auto heard = std::make_shared<news>(options.on_progress());
  auto look = [path = ends.on_host] {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) (void)whole_host()->open(path, O_PATH);  // says why
    return found;
  };
  auto looking = ends.pool->run(std::move(look));
  const struct stat found = co_await std::move(looking);
  if (S_ISDIR(found.st_mode))
    co_await upload_tree(std::move(ends), heard, options.excluded());
  else
    co_await upload_file(std::move(ends), heard, found.st_mode & permission_bits);
  co_return heard->last();
}

task<transfer_progress> download_from(transfer_ends ends, transfer_options options) {
  const auto heard = std::make_shared<news>(options.on_progress());
  const file_info found = co_await ends.place->files()->stat(ends.in_place);
  if (!found.is_directory()) {
    const bool done = co_await download_file(ends, heard, found);
    if (done) co_return heard->last();
  }
  const auto links = options.keeps_outside_links() ? outside_links::keep : outside_links::skip;
  const auto skipped = std::make_shared<std::vector<std::string>>();
  std::function<void(std::string)> skip = [skipped](std::string path) { skipped->push_back(std::move(path)); };
  auto tar = co_await ends.place->files()->pack(ends.in_place, options.excluded(), std::move(skip));
  auto done = co_await unpack_tree(local(ends), ends.on_host, std::move(tar), links, news::listener(heard));
  for (std::string& path : *skipped) done.skip(std::move(path));
  co_return done;
}

}  // namespace berth
