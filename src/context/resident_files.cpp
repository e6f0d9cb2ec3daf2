#include "context/resident_files.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"
#include "core/gather.hpp"
#include "os/path_patterns.hpp"

#include <chrono>
#include <utility>

namespace berth {
namespace {

using namespace std::chrono_literals;
using verb = resident_file_verb;
namespace verbs = wire::verb;
using words = std::vector<std::string>;

constexpr auto settling = 500ms;  // from the end of a verb's input to its own

file_info info_of(std::string_view fields, const std::string* path) {
  wire::entry_fields entry;
  if (!entry.get(fields)) throw error(make_error_code(errc::protocol), "what the resident answered cannot be");
  constexpr file_type types[] = {file_type::regular, file_type::directory, file_type::symlink, file_type::other};
  file_info info(path != nullptr ? *path : std::string(entry.path), types[static_cast<std::size_t>(entry.kind)]);
  const auto since = std::chrono::seconds(entry.seconds) + std::chrono::nanoseconds(entry.nanoseconds);
  info.modified(file_info::time_point(std::chrono::duration_cast<file_info::time_point::duration>(since)));
  info.mode(entry.mode).size(entry.size).link_target(std::string(entry.target));
  return info;
}

/// All entries that a verb gives; `path` stands in for theirs.
task<std::vector<file_info>> entries_of(command_starter start, std::shared_ptr<resting_verbs> resting, words what,
                                        std::shared_ptr<const std::string> path) {
  const auto running = co_await verb::ask(std::move(start), std::move(resting), std::move(what));
  std::vector<file_info> all;
  record_reader records;
  for (;;) {
    std::string bytes = co_await verb::next(running);
    if (bytes.empty()) break;
    records.add(std::move(bytes));
    wire::record_type type{};
    std::string_view fields;
    while (records.next(type, fields)) all.push_back(info_of(fields, path.get()));
  }
  co_return all;
}

task<file_info> stat_by(command_starter start, std::shared_ptr<resting_verbs> resting, std::string path) {
  const auto name = std::make_shared<const std::string>(path);
  words what;
  what.emplace_back(verbs::stat);
  what.push_back(std::move(path));
  auto all = co_await entries_of(std::move(start), std::move(resting), std::move(what), name);
  if (all.size() != 1) throw error(make_error_code(errc::protocol), "what the resident answered cannot be");
  co_return std::move(all.front());
}

task<void> run_to_end(command_starter start, words what) {
  const auto running = co_await verb::start(std::move(start), std::move(what), verb::takes::nothing);
  co_await verb::finish(running);
}

class verb_source final : public byte_source {
 public:
  verb_source(std::shared_ptr<verb> from, std::string first)
      : state_(std::make_shared<state>(state{first.empty() ? nullptr : std::move(from), std::move(first)})) {}

  task<std::string> next() override { return next_of(state_); }

 private:
  struct state {
    std::shared_ptr<verb> from;  ///< none behind its end: then it may answer somebody else
    std::string first;
  };

  static task<std::string> next_of(std::shared_ptr<state> self) {
    if (!self->first.empty()) co_return std::exchange(self->first, {});
    if (!self->from) co_return std::string();
    std::string bytes = co_await verb::next(self->from);
    if (bytes.empty()) self->from.reset();
    co_return bytes;
  }

  std::shared_ptr<state> state_;
};

/// Returns with the first bytes, or the end: by then it is known that there is something to read.
task<std::unique_ptr<byte_source>> open_by(command_starter start, words what,
                                           std::function<void(std::string)> skipped) {
  const auto running = co_await verb::start(std::move(start), std::move(what), verb::takes::nothing);
  running->skipped = std::move(skipped);
  std::string first = co_await verb::next(running);
  co_return std::make_unique<verb_source>(running, std::move(first));
}

task<std::unique_ptr<byte_source>> read_by(command_starter start, std::shared_ptr<resting_verbs> resting, words what) {
  const auto running = co_await verb::ask(std::move(start), std::move(resting), std::move(what));
  std::string first = co_await verb::next(running);
  co_return std::make_unique<verb_source>(running, std::move(first));
}

task<void> write_by(command_starter start, words what, std::unique_ptr<byte_source> bytes) {
  const auto first = co_await gather(*bytes);
  const auto running = co_await verb::start(std::move(start), std::move(what), verb::takes::input);
  auto feeding = verb::feed(running, std::move(bytes), std::move(first->bytes), first->ended);
  auto settled = verb::settle(running);
  co_await with_cleanup(std::move(feeding), settling, std::move(settled));
}

task<void> unpack_by(command_starter start, std::string path, std::unique_ptr<byte_source> tar) {
  words what;
  what.emplace_back(verbs::unpack);
  what.push_back(std::move(path));
  const auto running = co_await verb::start(std::move(start), std::move(what), verb::takes::input);
  auto feeding = verb::feed(running, std::move(tar), std::string(), false);
  auto settled = verb::settle(running);
  co_await with_cleanup(std::move(feeding), settling, std::move(settled));
}

}  // namespace

task<file_info> resident_files::stat(std::string path) { return stat_by(start_, resting_, std::move(path)); }

task<std::vector<file_info>> resident_files::list(std::string path, list_options options) {
  return entries_of(start_, resting_, {verbs::list, std::to_string(options.depth()), std::move(path)}, nullptr);
}

task<void> resident_files::make_directory(std::string path) {
  return run_to_end(start_, {verbs::make, std::move(path)});
}

task<void> resident_files::remove(std::string path, remove_options options) {
  return run_to_end(start_, {verbs::remove, options.is_recursive() ? "1" : "0", std::move(path)});
}

task<void> resident_files::rename(std::string from, std::string to) {
  return run_to_end(start_, {verbs::rename, std::move(from), std::move(to)});
}

task<std::unique_ptr<byte_source>> resident_files::open(std::string path, read_options options) {
  return read_by(start_, resting_,
                 {verbs::read, std::to_string(options.offset()), std::to_string(options.limit()), std::move(path)});
}

task<void> resident_files::write(std::string path, std::unique_ptr<byte_source> bytes, write_options options) {
  std::uint32_t flags = 0;
  if (options.expects_absent()) flags |= wire::write_absent;
  if (options.makes_parents()) flags |= wire::write_parents;
  if (options.is_durable()) flags |= wire::write_durable;
  words what{verbs::write, std::to_string(flags)};
  what.push_back(options.mode() ? std::to_string(*options.mode()) : wire::not_given);
  what.push_back(options.expected_hash() ? *options.expected_hash() : wire::not_given);
  what.push_back(std::move(path));
  return write_by(start_, std::move(what), std::move(bytes));
}

task<std::unique_ptr<byte_source>> resident_files::pack(std::string path, std::vector<std::string> excluded,
                                                        std::function<void(std::string)> skipped) {
  const path_patterns checked(excluded);  // says which one is none
  words what{verbs::pack, std::move(path)};
  for (std::string& each : excluded) what.push_back(std::move(each));
  return open_by(start_, std::move(what), std::move(skipped));
}

task<void> resident_files::unpack(std::string path, std::unique_ptr<byte_source> tar) {
  return unpack_by(start_, std::move(path), std::move(tar));
}

task<std::unique_ptr<backend_watch>> resident_files::watch(std::string path, watch_options options) {
  return watch_by_resident(start_, std::move(path), options);
}

}  // namespace berth
