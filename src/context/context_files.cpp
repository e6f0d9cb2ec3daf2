#include <berth/context.hpp>

#include "context/file_access.hpp"
#include "context/transfer.hpp"
#include "core/shown_path.hpp"

#include <berth/error.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace berth {
namespace {

/// What was tried, for messages.
std::string phrase(const char* operation, const std::string& path) {
  return std::string(operation) + " " + shown_path(path);
}

std::string phrase(const char* operation, const std::string& from, const std::string& to) {
  return phrase(operation, from) + " to " + shown_path(to);
}

void check_path(const std::string& path, const std::string& tried) {
  if (path.empty()) throw error(make_error_code(errc::invalid_argument), tried + ": the path is empty");
  if (path.find('\0') != path.npos) throw error(make_error_code(errc::invalid_argument), tried + ": a NUL in the path");
}

std::string absolute(const file_access& at, const std::string& path, const std::string& tried) {
  if (at.failure) std::rethrow_exception(at.failure);
  check_path(path, tried);
  if (path.front() == '/') return path;
  return at.cwd + (at.cwd.ends_with('/') ? "" : "/") + path;
}

/// Adds the phrase to what the work throws.
template <class T>
task<T> tried(std::string what, task<T> work) {
  try {
    co_return co_await std::move(work);
  } catch (const error& failure) {
    throw failure.within(what);
  } catch (const std::system_error& failure) {
    if (is_cancelled(failure.code())) throw;
    throw error(failure.code(), what);
  }
}

class named_source final : public byte_source {
 public:
  named_source(std::string what, std::unique_ptr<byte_source> from) : what_(std::move(what)), from_(std::move(from)) {}
  task<std::string> next() override { return next_of(what_, from_); }

 private:
  static task<std::string> next_of(std::string what, std::shared_ptr<byte_source> from) {
    co_return co_await tried(std::move(what), from->next());
  }

  std::string what_;
  std::shared_ptr<byte_source> from_;
};

task<std::string> read_whole(std::unique_ptr<byte_source> from) {
  std::string all;
  for (;;) {
    std::string piece = co_await from->next();
    if (piece.empty()) co_return all;
    if (all.empty())
      all = std::move(piece);
    else
      all += piece;
  }
}

task<std::unique_ptr<byte_source>> open_in(file_access at, const char* operation, std::string path,
                                           read_options options) {
  const auto what = phrase(operation, path);
  const auto full = absolute(at, path, what);
  auto opened = co_await tried(what, at.files()->open(full, options));
  co_return std::make_unique<named_source>(what, std::move(opened));
}

task<std::string> read_in(file_access at, std::string path, read_options options) {
  auto opened = co_await open_in(std::move(at), "read_file", std::move(path), options);
  co_return co_await read_whole(std::move(opened));
}

task<void> write_in(file_access at, std::string path, std::unique_ptr<byte_source> bytes, write_options options) {
  const auto what = phrase("write_file", path);
  const auto full = absolute(at, path, what);
  if (!bytes) throw error(make_error_code(errc::invalid_argument), what + ": no source of bytes");
  options.validate();
  co_await tried(what, at.files()->write(full, std::move(bytes), std::move(options)));
}

task<std::vector<file_info>> list_in(file_access at, std::string path, list_options options) {
  const auto what = phrase("list_files", path);
  const auto full = absolute(at, path, what);
  if (options.depth() == 0) throw error(make_error_code(errc::invalid_argument), what + ": depth must be at least 1");
  auto found = co_await tried(what, at.files()->list(full, options));
  const auto by_path = [](const file_info& left, const file_info& right) { return left.path() < right.path(); };
  std::sort(found.begin(), found.end(), by_path);
  co_return found;
}

task<file_info> stat_in(file_access at, std::string path) {
  const auto what = phrase("stat", path);
  const auto full = absolute(at, path, what);
  co_return co_await tried(what, at.files()->stat(full));
}

task<void> make_directory_in(file_access at, std::string path) {
  const auto what = phrase("make_directory", path);
  const auto full = absolute(at, path, what);
  co_await tried(what, at.files()->make_directory(full));
}

task<void> remove_in(file_access at, std::string path, remove_options options) {
  const auto what = phrase("remove", path);
  const auto full = absolute(at, path, what);
  co_await tried(what, at.files()->remove(full, options));
}

task<void> rename_in(file_access at, std::string from, std::string to) {
  const auto what = phrase("rename", from, to);
  const auto old_path = absolute(at, from, what);
  const auto new_path = absolute(at, to, what);
  co_await tried(what, at.files()->rename(old_path, new_path));
}

/// Relative paths on the caller's host start at its own directory.
transfer_ends ends_of(file_access at, const std::string& in_place, const std::string& on_host,
                      const std::string& what) {
  transfer_ends ends;
  check_path(on_host, what);
  ends.on_host = std::filesystem::absolute(on_host).string();
  ends.in_place = absolute(at, in_place, what);
  ends.place = std::move(at.place);
  ends.pool = std::move(at.pool);
  return ends;
}

task<transfer_progress> upload_in(file_access at, std::string from, std::string to, transfer_options options) {
  const auto what = phrase("upload", from, to);
  auto ends = ends_of(std::move(at), to, from, what);
  co_return co_await tried(what, upload_to(std::move(ends), std::move(options)));
}

task<transfer_progress> download_in(file_access at, std::string from, std::string to, transfer_options options) {
  const auto what = phrase("download", from, to);
  auto ends = ends_of(std::move(at), from, to, what);
  co_return co_await tried(what, download_from(std::move(ends), std::move(options)));
}

task<watcher> watch_in(file_access at, std::string path, watch_options options) {
  const auto what = phrase("watch", path);
  const auto full = absolute(at, path, what);
  if (!at.can_watch) throw error(make_error_code(errc::unsupported), what);
  auto opened = co_await tried(what, at.files()->watch(full, options));
  std::shared_ptr<backend_watch> source = std::move(opened);
  co_return watcher(std::move(source));
}

}  // namespace

task<std::string> context::read_file(handle place, std::string path) & {
  return read_in(files_of(place), std::move(path), read_options());
}
task<std::string> context::read_file(handle place, std::string path, read_options options) & {
  return read_in(files_of(place), std::move(path), options);
}
task<std::unique_ptr<byte_source>> context::open_file(handle place, std::string path) & {
  return open_in(files_of(place), "open_file", std::move(path), read_options());
}
task<std::unique_ptr<byte_source>> context::open_file(handle place, std::string path, read_options options) & {
  return open_in(files_of(place), "open_file", std::move(path), options);
}

task<void> context::write_file(handle place, std::string path, std::string bytes) & {
  return write_in(files_of(place), std::move(path), make_byte_source(std::move(bytes)), write_options());
}
task<void> context::write_file(handle place, std::string path, std::string bytes, write_options options) & {
  return write_in(files_of(place), std::move(path), make_byte_source(std::move(bytes)), std::move(options));
}
task<void> context::write_file(handle place, std::string path, std::unique_ptr<byte_source> bytes) & {
  return write_in(files_of(place), std::move(path), std::move(bytes), write_options());
}
task<void> context::write_file(handle place, std::string path, std::unique_ptr<byte_source> bytes,
                               write_options options) & {
  return write_in(files_of(place), std::move(path), std::move(bytes), std::move(options));
}

task<std::vector<file_info>> context::list_files(handle place, std::string path) & {
  return list_in(files_of(place), std::move(path), list_options());
}
task<std::vector<file_info>> context::list_files(handle place, std::string path, list_options options) & {
  return list_in(files_of(place), std::move(path), options);
}
task<file_info> context::stat(handle place, std::string path) & { return stat_in(files_of(place), std::move(path)); }
task<void> context::make_directory(handle place, std::string path) & {
  return make_directory_in(files_of(place), std::move(path));
}
task<void> context::remove(handle place, std::string path) & {
  return remove_in(files_of(place), std::move(path), remove_options());
}
task<void> context::remove(handle place, std::string path, remove_options options) & {
  return remove_in(files_of(place), std::move(path), options);
}
task<void> context::rename(handle place, std::string from, std::string to) & {
  return rename_in(files_of(place), std::move(from), std::move(to));
}

task<transfer_progress> context::upload(handle place, std::string from, std::string to) & {
  return upload_in(files_of(place), std::move(from), std::move(to), transfer_options());
}
task<transfer_progress> context::upload(handle place, std::string from, std::string to, transfer_options options) & {
  return upload_in(files_of(place), std::move(from), std::move(to), std::move(options));
}
task<transfer_progress> context::download(handle place, std::string from, std::string to) & {
  return download_in(files_of(place), std::move(from), std::move(to), transfer_options());
}
task<transfer_progress> context::download(handle place, std::string from, std::string to, transfer_options options) & {
  return download_in(files_of(place), std::move(from), std::move(to), std::move(options));
}

task<watcher> context::watch(handle place, std::string path) & {
  return watch_in(files_of(place), std::move(path), watch_options());
}
task<watcher> context::watch(handle place, std::string path, watch_options options) & {
  return watch_in(files_of(place), std::move(path), options);
}

}  // namespace berth
