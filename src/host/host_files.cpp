#include "host/host_files.hpp"

#include "os/file_tree.hpp"
#include "os/pooled_watch.hpp"

#include <utility>

namespace berth {
namespace {

/// In slices, so that other work gets its turn and a cancellation is seen.
task<void> run_slices(std::shared_ptr<blocking_pool> pool, std::shared_ptr<sliced_work> work) {
  for (bool more = true; more;) {
    auto slice = [work] { return work->step(); };
    auto running = pool->run(std::move(slice));
    more = co_await std::move(running);
  }
}

task<std::vector<file_info>> list_slices(file_work with, std::string path, std::size_t depth) {
  auto open = [scope = with.scope, path = std::move(path), depth] {
    return std::make_shared<tree_listing>(scope(), path, depth);
  };
  auto opening = with.pool->run(std::move(open));
  const auto listing = co_await std::move(opening);
  co_await run_slices(with.pool, listing);
  co_return listing->take();
}

task<void> remove_slices(file_work with, std::string path, bool recursive) {
  auto open = [scope = with.scope, path = std::move(path), recursive] {
    return std::make_shared<tree_removal>(*scope(), path, recursive);
  };
  auto opening = with.pool->run(std::move(open));
  const auto removal = co_await std::move(opening);
  co_await run_slices(with.pool, removal);
}

task<void> unpack_quietly(file_work with, std::string path, std::unique_ptr<byte_source> tar) {
  const progress_listener nobody;
  (void)co_await unpack_tree(std::move(with), std::move(path), std::move(tar), outside_links::keep, nobody);
}

}  // namespace

task<file_info> host_files::stat(std::string path) {
  auto call = [scope = with_.scope, path = std::move(path)] { return stat_file(*scope(), path); };
  return with_.pool->run(std::move(call));
}

task<std::vector<file_info>> host_files::list(std::string path, list_options options) {
  return list_slices(with_, std::move(path), options.depth());
}

task<void> host_files::make_directory(std::string path) {
  auto call = [scope = with_.scope, path = std::move(path)] { scope()->make_directories(path); };
  return with_.pool->run(std::move(call));
}

task<void> host_files::remove(std::string path, remove_options options) {
  return remove_slices(with_, std::move(path), options.is_recursive());
}

task<void> host_files::rename(std::string from, std::string to) {
  auto call = [scope = with_.scope, from = std::move(from), to = std::move(to)] { rename_file(*scope(), from, to); };
  return with_.pool->run(std::move(call));
}

task<std::unique_ptr<byte_source>> host_files::open(std::string path, read_options options) {
  return open_file_source(with_, std::move(path), options);
}

task<void> host_files::write(std::string path, std::unique_ptr<byte_source> bytes, write_options options) {
  return write_from_source(with_, std::move(path), std::move(bytes), std::move(options));
}

task<std::unique_ptr<byte_source>> host_files::pack(std::string path, std::vector<std::string> excluded,
                                                    std::function<void(std::string)> skipped) {
  const auto told = std::make_shared<std::size_t>(0);
  progress_listener listener = [skipped = std::move(skipped), told](const transfer_progress& now) {
    while (*told < now.skipped().size()) skipped(now.skipped()[(*told)++]);
  };
  return pack_tree(with_, std::move(path), std::move(excluded), std::move(listener));
}

task<void> host_files::unpack(std::string path, std::unique_ptr<byte_source> tar) {
  return unpack_quietly(with_, std::move(path), std::move(tar));
}

task<std::unique_ptr<backend_watch>> host_files::watch(std::string path, watch_options options) {
  return watch_files(executor_, with_, std::move(path), options);
}

}  // namespace berth
