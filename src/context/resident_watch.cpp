/// Watching the files of a place in which a resident lives.
#include "context/resident_files.hpp"

#include "berth/error.hpp"

#include <chrono>
#include <iterator>
#include <utility>

namespace berth {
namespace {

using verb = resident_file_verb;
using time_point = backend_watch::time_point;

constexpr auto longest_answer = std::chrono::seconds(1);

class resident_watch final : public backend_watch {
 public:
  explicit resident_watch(std::shared_ptr<verb> running) : state_(std::make_shared<state>()) {
    state_->running = std::move(running);
  }

  task<std::vector<watch_event>> next(time_point until) override { return next_of(state_, until); }

 private:
  struct state {
    std::shared_ptr<verb> running;
    record_reader records;
    std::vector<watch_event> events;
    std::uint64_t asked = 0;
    std::uint64_t answered = 0;

    void take(std::string bytes) {
      records.add(std::move(bytes));
      wire::record_type type{};
      std::string_view fields;
      while (records.next(type, fields)) {
        if (type == wire::record_type::looked)
          ++answered;
        else
          add(fields);
      }
    }

    void add(std::string_view fields) {
      wire::reader in(fields);
      constexpr watch_kind kinds[] = {watch_kind::created, watch_kind::modified, watch_kind::removed,
                                      watch_kind::overflow};
      const std::uint8_t kind = in.u8();
      const std::string_view path = in.bytes();
      if (!in.done() || kind >= std::size(kinds))
        throw error(make_error_code(errc::protocol), "what the resident answered cannot be");
      events.emplace_back(kinds[kind], std::string(path));
    }
  };

  /// What happened before this was called, and is not told yet, comes: where nothing is there in time, the place is asked.
  static task<std::vector<watch_event>> next_of(std::shared_ptr<state> self, time_point until) {
    bool asked = false;
    while (self->events.empty()) {
      if (self->running->over()) self->running->check_end();
      std::string bytes = co_await verb::step(self->running, until);
      if (!bytes.empty()) {
        self->take(std::move(bytes));
      } else if (std::chrono::steady_clock::now() >= until) {
        if (asked) break;  // the connection may be cut: it tells later
        co_await verb::write(self->running, "?");
        ++self->asked;
        asked = true;
        until = std::chrono::steady_clock::now() + longest_answer;
      }
      if (asked && self->answered >= self->asked) break;
    }
    co_return std::exchange(self->events, {});
  }

  std::shared_ptr<state> state_;
};

}  // namespace

task<std::unique_ptr<backend_watch>> watch_by_resident(command_starter start, std::string path, watch_options options) {
  std::vector<std::string> words;
  words.emplace_back(wire::verb::watch);
  words.emplace_back(options.is_recursive() ? "1" : "0");
  words.push_back(std::move(path));
  const auto running = co_await verb::start(std::move(start), std::move(words), verb::takes::input);
  while (!running->ready()) {
    (void)co_await verb::step(running, time_point::max());
    if (running->over()) running->check_end();
  }
  co_return std::make_unique<resident_watch>(running);
}

}  // namespace berth
