#include "host/failed_process.hpp"

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <system_error>
#include <utility>

namespace berth {
namespace {

class failed_process final : public backend_process {
 public:
  explicit failed_process(exit_status why) : left_(std::make_shared<events>(std::move(why))) {}

  std::int64_t pid() const noexcept override { return 0; }
  bool has_exited() const noexcept override { return true; }
  bool is_over() const noexcept override { return true; }
  task<process_event> next(time_point until) override { return next_of(left_, until); }
  task<void> write(std::string) override { return refuse(); }
  void close_stdin() override {}
  void signal(int) override {}
  void kill(std::chrono::milliseconds) override {}
  void abandon_streams() override {}

 private:
  struct events {
    explicit events(exit_status w) : why(std::move(w)) {}
    exit_status why;
    int given = 0;
  };

  static task<process_event> next_of(std::shared_ptr<events> left, time_point until) {
    const int which = left->given++;
    process_event event = nothing_yet();
    if (which == 0) {
      process_exited exited;
      exited.status = left->why;
      event = std::move(exited);
    } else if (which == 1) {
      event = streams_ended();
    } else {
      const auto executor = co_await asio::this_coro::executor;
      asio::steady_timer timer(executor, until);
      co_await timer.async_wait(asio::use_awaitable);
    }
    co_return event;
  }

  static task<void> refuse() {
    throw std::system_error(std::make_error_code(std::errc::broken_pipe));
    co_return;
  }

  std::shared_ptr<events> left_;
};

}  // namespace

std::unique_ptr<backend_process> make_failed_process(exit_status why) {
  return std::make_unique<failed_process>(std::move(why));
}

}  // namespace berth
