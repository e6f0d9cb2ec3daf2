#include "cli/pull_events.hpp"

#include "cli/json_events.hpp"

#include <utility>

namespace berth::cli {
namespace {

constexpr std::chrono::milliseconds pause_of_bytes{250};
// A reader that takes nothing does not hear every step.
constexpr std::size_t most_waiting = std::size_t{256} << 10;

bool is_about_bytes(const pull_progress& now) { return now.status == "Downloading" || now.status == "Extracting"; }

}  // namespace

struct pull_events::state {
  explicit state(asio::any_io_executor executor) : changed(std::move(executor)) {}

  std::string waiting;
  event changed;
  bool ended = false;
  clock::time_point next = clock::now();
};

pull_events::pull_events(asio::any_io_executor executor) : state_(std::make_shared<state>(std::move(executor))) {}

void pull_events::tell(const pull_progress& now) {
  if (is_about_bytes(now)) {
    if (clock::now() < state_->next) return;
    state_->next = clock::now() + pause_of_bytes;
  }
  if (state_->waiting.size() < most_waiting) state_->waiting += json_events::pull(now);
  state_->changed.notify();
}

void pull_events::end() {
  state_->ended = true;
  state_->changed.notify();
}

task<std::error_code> pull_events::write_all(std::shared_ptr<state> self, standard_stream& out) {
  for (;;) {
    while (!self->waiting.empty()) {
      auto lines = std::exchange(self->waiting, std::string());
      const auto failure = co_await try_write(out, std::move(lines));
      if (failure) co_return failure;
    }
    if (self->ended) co_return std::error_code();
    co_await self->changed.wait();
  }
}

task<std::error_code> pull_events::write_to(standard_stream& out) { return write_all(state_, out); }

}  // namespace berth::cli
