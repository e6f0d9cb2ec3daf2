#include "docker/engine_files.hpp"

#include "berth/error.hpp"
#include "core/shown_path.hpp"
#include "docker/archive_reader.hpp"
#include "docker/container_exec.hpp"
#include "docker/engine_paths.hpp"
#include "os/path_patterns.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace berth {
namespace {

using place_ptr = std::shared_ptr<const engine_files_place>;

constexpr std::size_t most_bytes = std::size_t{256} << 20;
constexpr unsigned permission_bits = 0777;

[[noreturn]] void refuse(errc code, std::string why) { throw error(make_error_code(code), std::move(why)); }

[[noreturn]] void refuse_here(const char* what) {
  refuse(errc::unsupported, std::string("without a resident in the container there are no ") + what);
}

template <class T>
task<T> translated(task<T> work) {
  try {
    co_return co_await std::move(work);
  } catch (const error& failure) {
    if (is_cancelled(failure.code())) throw;
    throw file_refusal(failure);
  }
}

void require_reachable(const engine_files_place& place, const std::string& path) {
  if (is_out_of_reach(place, path))
    refuse(errc::unsupported,
           "without a resident in the container only its programs reach a tmpfs: " + shown_path(path));
}

/// What stands in the way is said nowhere: this call's answer has no text.
task<std::optional<archive_stat>> look_at(place_ptr place, std::string path) {
  require_reachable(*place, path);
  std::exception_ptr failure;
  try {
    auto asking = place->box.stat(path);
    co_return co_await std::move(asking);
  } catch (const error& caught) {
    if (caught.code() != errc::unavailable) throw;
    failure = std::current_exception();
  }
  for (std::string above = parent_of(path); above != "/"; above = parent_of(above)) {
    std::optional<archive_stat> found;
    try {
      auto asking = place->box.stat(above);
      found = co_await std::move(asking);
    } catch (const error& caught) {
      if (caught.code() != errc::unavailable) throw;
    }
    if (found && !found->is_directory() && !found->is_link()) refuse(errc::not_a_directory, "Not a directory");
  }
  // Asked for the file itself, the daemon has a text.
  auto asking = translated(place->box.download(path, most_bytes));
  (void)co_await std::move(asking);
  std::rethrow_exception(failure);
}

task<archive_stat> stat_there(place_ptr place, std::string path) {
  const std::optional<archive_stat> found = co_await look_at(std::move(place), std::move(path));
  if (!found) refuse(errc::not_found, "No such file or directory");
  co_return *found;
}

/// The path that a last link leads to; the daemon has followed all others.
task<std::string> followed(place_ptr place, std::string path) {
  const std::optional<archive_stat> found = co_await look_at(place, path);
  if (!found || !found->is_link()) co_return path;
  require_reachable(*place, found->target);
  co_return found->target;
}

task<std::string> download(place_ptr place, std::string path) {
  return translated(place->box.download(std::move(path), most_bytes));
}

file_type type_of(const archive_stat& stat) noexcept {
  constexpr std::uint32_t special = std::uint32_t{0b1110} << 23U;  // devices, pipes and sockets
  if (stat.is_directory()) return file_type::directory;
  if (stat.is_link()) return file_type::symlink;
  return (stat.mode & special) != 0 ? file_type::other : file_type::regular;
}

unsigned mode_of(const archive_stat& stat) noexcept {
  unsigned mode = stat.mode & permission_bits;
  if ((stat.mode >> 23U & 1U) != 0) mode |= 04000U;
  if ((stat.mode >> 22U & 1U) != 0) mode |= 02000U;
  if ((stat.mode >> 20U & 1U) != 0) mode |= 01000U;
  return mode;
}

task<file_info> stat_by(place_ptr place, std::string asked) {
  const std::string path = plain_path(asked);
  const archive_stat found = co_await stat_there(place, path);
  file_info info(asked, type_of(found));
  info.mode(mode_of(found)).modified(read_rfc3339(found.modified));
  if (info.is_regular()) info.size(found.size);
  if (info.type() != file_type::symlink) co_return info;
  // What it says, and not where that leads.
  std::string tar = co_await download(place, path);
  archive_reader reader(std::move(tar));
  archived_entry entry;
  if (reader.next(entry)) info.link_target(entry.target);
  co_return info;
}

task<std::string> directory_there(place_ptr place, std::string path) {
  std::string real = co_await followed(place, plain_path(path));
  const archive_stat found = co_await stat_there(place, real);
  if (!found.is_directory()) refuse(errc::not_a_directory, "Not a directory");
  co_return real;
}

/// Entries of a directory's archive begin with its name; that of the root has none.
bool strip_top(std::string& path, const std::string& top) {
  if (top.empty()) return !path.empty();
  if (path.size() <= top.size() + 1 || !path.starts_with(top) || path[top.size()] != '/') return false;
  path.erase(0, top.size() + 1);
  return true;
}

task<std::vector<file_info>> list_by(place_ptr place, std::string asked, list_options options) {
  const std::string path = co_await directory_there(place, asked);
  std::string tar = co_await download(place, path);
  archive_reader reader(std::move(tar));
  std::vector<file_info> all;
  archived_entry entry;
  while (reader.next(entry)) {
    if (!strip_top(entry.path, name_of(path))) continue;
    const auto depth = 1 + static_cast<std::size_t>(std::count(entry.path.begin(), entry.path.end(), '/'));
    if (depth > options.depth()) continue;
    file_info info(entry.path, entry.type);
    info.mode(entry.mode).size(entry.size).modified(entry.modified).link_target(entry.target);
    all.push_back(std::move(info));
  }
  co_return all;
}

tar_entry owned(const engine_files_place& place, std::string path, unsigned mode) {
  tar_entry entry;
  entry.path = std::move(path);
  entry.mode = mode;
  entry.modified =
      std::chrono::duration_cast<std::chrono::seconds>(file_info::time_point::clock::now().time_since_epoch()).count();
  entry.user = place.owner.user;
  entry.group = place.owner.group;
  return entry;
}

task<void> upload(place_ptr place, std::string directory, std::vector<tar_entry> entries) {
  auto body = make_byte_source(tar_of(entries));
  auto putting = translated(place->box.unpack(std::move(directory), std::move(body)));
  co_await std::move(putting);
}

/// A program of the image.
task<void> run_program(place_ptr place, std::vector<std::string> words) {
  exec_request what;
  const std::string program = words.front();
  what.words = std::move(words);
  what.user = place->user;
  what.env.emplace_back("LC_ALL=C");
  auto running = run_in_container(place->box, std::move(what));
  const exec_outcome outcome = co_await std::move(running);
  if (!outcome.started)
    refuse(errc::unsupported, "the container has no `" + program + "`, and no resident lives in it");
  if (outcome.code == 0) co_return;
  throw file_refusal(
      error(make_error_code(errc::protocol), program + " ended with " + std::to_string(outcome.code), outcome.err));
}

task<void> make_by(place_ptr place, std::string asked) {
  std::string there = plain_path(asked);
  if (is_out_of_reach(*place, there)) {
    std::vector<std::string> words{"mkdir", "-p", "--", there};
    co_return co_await run_program(std::move(place), std::move(words));
  }
  // The daemon takes a/../b for b; what is to be made before it goes up counts too.
  for (auto up = there.find("/../"); up != std::string::npos; up = there.find("/../", up + 1)) {
    std::string above = there.substr(0, up);
    co_await make_by(place, std::move(above));
  }
  std::vector<std::string> missing;
  for (;;) {
    std::string real = co_await followed(place, there);
    const std::optional<archive_stat> found = co_await look_at(place, real);
    if (found && !found->is_directory()) refuse(errc::not_a_directory, "Not a directory");
    if (found) break;
    missing.push_back(name_of(there));
    there = parent_of(there);
  }
  if (missing.empty()) co_return;
  std::vector<tar_entry> entries;
  std::string path;
  for (auto each = missing.rbegin(); each != missing.rend(); ++each) {
    path += (path.empty() ? "" : "/") + *each;
    entries.push_back(owned(*place, path, 0755));
    entries.back().is_directory = true;
  }
  co_await upload(std::move(place), std::move(there), std::move(entries));
}

task<void> remove_by(place_ptr place, std::string asked, remove_options options) {
  const std::string path = plain_path(asked);
  const archive_stat found = co_await stat_there(place, path);
  std::vector<std::string> words{"rm", options.is_recursive() ? "-rf" : "-f", "--", path};
  if (found.is_directory() && !options.is_recursive()) words = {"rmdir", "--", path};
  co_await run_program(std::move(place), std::move(words));
}

task<void> rename_by(place_ptr place, std::string from, std::string to) {
  (void)co_await stat_there(place, plain_path(from));
  require_reachable(*place, plain_path(to));
  std::vector<std::string> words{"mv", "-f", "-T", "--", std::move(from), std::move(to)};
  co_await run_program(std::move(place), std::move(words));
}

task<std::unique_ptr<byte_source>> open_by(place_ptr place, std::string asked, read_options options) {
  const std::string path = co_await followed(place, plain_path(asked));
  const archive_stat found = co_await stat_there(place, path);
  if (found.is_directory()) refuse(errc::is_a_directory, "Is a directory");
  if (type_of(found) != file_type::regular) refuse(errc::unsupported, "not a regular file");
  if (asked.ends_with('/')) refuse(errc::not_a_directory, "Not a directory");
  std::string tar = co_await download(place, path);
  archive_reader reader(std::move(tar));
  archived_entry entry;
  if (!reader.next(entry)) refuse(errc::protocol, "docker: an archive without its file");
  const std::string all = reader.content();
  const auto from = static_cast<std::size_t>(std::min<std::uint64_t>(options.offset(), all.size()));
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(options.limit(), all.size() - from));
  co_return make_byte_source(all.substr(from, size));
}

task<std::string> gather(std::unique_ptr<byte_source> from) {
  std::string all;
  for (;;) {
    const std::string piece = co_await from->next();
    if (piece.empty()) co_return all;
    all += piece;
    if (all.size() > most_bytes) refuse(errc::limit_exceeded, "more than 256 MiB, which the Engine takes at once");
  }
}

task<void> write_by(place_ptr place, std::string asked, std::unique_ptr<byte_source> bytes, write_options options) {
  if (options.expected_hash()) refuse_here("writes that expect a hash");
  if (options.is_durable()) refuse_here("durable writes");
  const std::string path = co_await followed(place, plain_path(asked));
  const std::optional<archive_stat> found = co_await look_at(place, path);
  if (!found && asked.ends_with('/')) refuse(errc::is_a_directory, "Is a directory");
  if (found && options.expects_absent()) refuse(errc::already_exists, "File exists");
  if (found && found->is_directory()) refuse(errc::is_a_directory, "Is a directory");
  if (found && type_of(*found) != file_type::regular) refuse(errc::unsupported, "not a regular file");
  if (found && asked.ends_with('/')) refuse(errc::not_a_directory, "Not a directory");
  constexpr unsigned usual_mode = 0644;
  std::vector<tar_entry> entries;
  entries.push_back(owned(*place, name_of(path), options.mode().value_or(found ? mode_of(*found) : usual_mode)));
  entries.back().content = co_await gather(std::move(bytes));
  if (!found && options.makes_parents()) co_await make_by(place, parent_of(path));
  const std::string directory = co_await directory_there(place, parent_of(path));
  co_await upload(std::move(place), directory, std::move(entries));
}

/// With all below it.
bool is_left_out(const path_patterns& unwanted, const archived_entry& entry) {
  if (unwanted.match(entry.path, entry.type == file_type::directory)) return true;
  for (auto slash = entry.path.find('/'); slash != std::string::npos; slash = entry.path.find('/', slash + 1)) {
    if (unwanted.match(std::string_view(entry.path).substr(0, slash), true)) return true;
  }
  return false;
}

task<std::unique_ptr<byte_source>> pack_by(place_ptr place, std::string asked, std::vector<std::string> excluded,
                                           std::function<void(std::string)> skipped) {
  const path_patterns unwanted(excluded);
  const std::string path = co_await directory_there(place, asked);
  std::string tar = co_await download(place, path);
  archive_reader reader(std::move(tar));
  std::vector<tar_entry> entries;
  archived_entry entry;
  while (reader.next(entry)) {
    if (!strip_top(entry.path, name_of(path))) continue;
    if (is_left_out(unwanted, entry)) continue;
    if (entry.type == file_type::other) {
      if (skipped) skipped(entry.path);
      continue;
    }
    tar_entry one;
    one.path = entry.path;
    one.mode = entry.mode;
    one.is_directory = entry.type == file_type::directory;
    one.link_target = entry.target;
    one.modified = std::chrono::duration_cast<std::chrono::seconds>(entry.modified.time_since_epoch()).count();
    if (entry.type == file_type::regular) one.content = reader.content();
    entries.push_back(std::move(one));
  }
  co_return make_byte_source(tar_of(entries));
}

task<void> unpack_by(place_ptr place, std::string path, std::unique_ptr<byte_source> tar) {
  co_await make_by(place, path);
  std::string directory = co_await directory_there(place, path);
  auto putting = translated(place->box.unpack(std::move(directory), tar_owned_by(std::move(tar), place->owner)));
  co_await std::move(putting);
}

task<std::unique_ptr<backend_watch>> no_watch() {
  refuse_here("watches");
  co_return nullptr;
}

}  // namespace

task<file_info> engine_files::stat(std::string path) { return stat_by(place_, std::move(path)); }

task<std::vector<file_info>> engine_files::list(std::string path, list_options options) {
  return list_by(place_, std::move(path), options);
}

task<void> engine_files::make_directory(std::string path) { return make_by(place_, std::move(path)); }

task<void> engine_files::remove(std::string path, remove_options options) {
  return remove_by(place_, std::move(path), options);
}

task<void> engine_files::rename(std::string from, std::string to) {
  return rename_by(place_, std::move(from), std::move(to));
}

task<std::unique_ptr<byte_source>> engine_files::open(std::string path, read_options options) {
  return open_by(place_, std::move(path), options);
}

task<void> engine_files::write(std::string path, std::unique_ptr<byte_source> bytes, write_options options) {
  return write_by(place_, std::move(path), std::move(bytes), std::move(options));
}

task<std::unique_ptr<byte_source>> engine_files::pack(std::string path, std::vector<std::string> excluded,
                                                      std::function<void(std::string)> skipped) {
  return pack_by(place_, std::move(path), std::move(excluded), std::move(skipped));
}

task<void> engine_files::unpack(std::string path, std::unique_ptr<byte_source> tar) {
  return unpack_by(place_, std::move(path), std::move(tar));
}

task<std::unique_ptr<backend_watch>> engine_files::watch(std::string, watch_options) { return no_watch(); }

}  // namespace berth
