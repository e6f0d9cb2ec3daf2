#pragma once
/// A context with one handle, over a backend in memory.

#include "core/task_group.hpp"
#include "support/async.hpp"
#include "support/fake_backend.hpp"
#include "support/waiting.hpp"

#include <berth/background.hpp>
#include <berth/context.hpp>
#include <berth/error.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace berth::test {

using namespace std::chrono_literals;

class fake_world {
 public:
  explicit fake_world(asio::io_context& io)
      : backend(std::make_shared<fake_backend>(io.get_executor())), place(std::in_place, io.get_executor(), backend) {}

  static task<std::shared_ptr<fake_world>> make(asio::io_context& io) {
    auto made = std::make_shared<fake_world>(io);
    made->at = co_await made->place->spawn();
    co_return made;
  }

  /// Every command from now on does this.
  void script(std::function<void(fake_run&)> what) { backend->on_start = std::move(what); }
  fake_run& run() { return backend->last(); }
  task<process> start(command what) { return place->exec_stream(at, std::move(what)); }
  task<background> keep(command what) { return place->exec_background(at, std::move(what)); }
  task<exec_result> exec(command what) { return place->exec(at, std::move(what)); }

  std::shared_ptr<fake_backend> backend;
  std::optional<context> place;  // reset: the last copy goes
  handle at;
};

/// Where a coroutine that runs beside the test leaves its result.
template <class T>
using outcome = std::shared_ptr<std::optional<T>>;

template <class T>
outcome<T> no_outcome() {
  return std::make_shared<std::optional<T>>();
}

template <class T>
task<void> leave(task<T> work, outcome<T> where) {
  where->emplace(co_await std::move(work));
}

/// The code that the task throws; none if it does not.
template <class T>
task<std::error_code> code_of(task<T> work) {
  try {
    (void)co_await std::move(work);
  } catch (const std::system_error& caught) {
    co_return caught.code();
  }
  co_return std::error_code();
}

inline task<std::error_code> code_of(task<void> work) {
  try {
    co_await std::move(work);
  } catch (const std::system_error& caught) {
    co_return caught.code();
  }
  co_return std::error_code();
}

/// All output up to the end.
inline task<std::string> read_rest(process& from) {
  std::string all;
  for (;;) {
    const auto piece = co_await from.next();
    if (!piece) co_return all;
    all += piece->bytes();
  }
}

}  // namespace berth::test
