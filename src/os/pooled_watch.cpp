#include "os/pooled_watch.hpp"

#include "berth/error.hpp"
#include "core/compat.hpp"
#include "os/file_failure.hpp"
#include "os/inotify_tree.hpp"

#include <fcntl.h>
#include <asio/error.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <system_error>
#include <utility>
#include <vector>

namespace berth {
namespace {

class inotify_watch final : public backend_watch {
 public:
  inotify_watch(asio::any_io_executor executor, std::shared_ptr<blocking_pool> pool, std::shared_ptr<inotify_tree> tree)
      : state_(std::make_shared<state>(std::move(executor), std::move(pool), std::move(tree))) {}
  inotify_watch(const inotify_watch&) = delete;
  inotify_watch& operator=(const inotify_watch&) = delete;
  ~inotify_watch() override { state_->readable.cancel(); }

  task<std::vector<watch_event>> next(time_point until) override { return next_of(state_, until); }

 private:
  struct state {
    state(asio::any_io_executor executor, std::shared_ptr<blocking_pool> p, std::shared_ptr<inotify_tree> t)
        : pool(std::move(p)),
          tree(std::move(t)),
          readable(std::move(executor), check_file(::fcntl(tree->fd(), F_DUPFD_CLOEXEC, 0))) {}

    std::shared_ptr<blocking_pool> pool;
    std::shared_ptr<inotify_tree> tree;
    asio::posix::stream_descriptor readable;
  };

  static task<void> wait(std::shared_ptr<state> self, time_point until) {
    asio::steady_timer timer(self->readable.get_executor(), until);
    const std::weak_ptr<state> weak = self;
    const auto on_time = [weak](std::error_code cancelled) {
      const auto still = weak.lock();
      if (still && !cancelled) still->readable.cancel();
    };
    if (until != time_point::max()) timer.async_wait(on_time);
    const auto [failed] =
        co_await self->readable.async_wait(asio::posix::stream_descriptor::wait_read, as_tuple(asio::use_awaitable));
    const bool late = std::chrono::steady_clock::now() >= until;
    if (failed && !(late && failed == asio::error::operation_aborted)) throw std::system_error(failed);
  }

  static task<std::vector<watch_event>> next_of(std::shared_ptr<state> self, time_point until) {
    for (;;) {
      auto read = [tree = self->tree] { return tree->read(); };
      auto reading = self->pool->run(std::move(read));
      auto events = co_await std::move(reading);
      if (!events.empty()) co_return events;
      if (self->tree->ended()) throw error(make_error_code(errc::not_found), "what was watched is gone");
      if (std::chrono::steady_clock::now() >= until) co_return events;
      co_await wait(self, until);
    }
  }

  std::shared_ptr<state> state_;
};

}  // namespace

task<std::unique_ptr<backend_watch>> watch_files(asio::any_io_executor executor, file_work with, std::string path,
                                                 watch_options options) {
  auto open = [scope = with.scope, path = std::move(path), options] {
    return std::make_shared<inotify_tree>(scope(), path, options.is_recursive());
  };
  auto opening = with.pool->run(std::move(open));
  auto tree = co_await std::move(opening);
  co_return std::make_unique<inotify_watch>(std::move(executor), with.pool, std::move(tree));
}

}  // namespace berth
