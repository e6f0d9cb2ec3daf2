#pragma once
/// The other end of a resident's link, inside this process: what the owner sent can be looked at, and frames be sent back.

#include "context/resident_link.hpp"
#include "context/resident_process.hpp"
#include "support/async.hpp"
#include "support/running.hpp"

#include <asio/io_context.hpp>

#include <sys/socket.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace berth::test {

struct seen_frame {
  wire::header header;
  std::string payload;
  std::vector<unique_fd> fds;
};

/// Speaks the wire codec over its end of a socket pair.
class fake_resident {
 public:
  fake_resident(asio::any_io_executor executor, unique_fd socket)
      : channel_(make_socket_channel(executor, std::move(socket))) {}

  /// The next frame of the owner; type pong with id 99 at the end of the stream.
  task<seen_frame> next() {
    for (;;) {
      seen_frame frame;
      std::string_view payload;
      const auto result = wire::parse(input_, frame.header, payload);
      if (result == wire::parse_result::frame) {
        frame.payload = payload;
        input_.erase(0, wire::header_size + payload.size());
        if (frame.header.fds > 0) {
          frame.fds = std::move(inbox_.batches.front().fds);
          inbox_.batches.pop_front();
        }
        co_return frame;
      }
      const std::size_t n = co_await channel_->read(buffer_, inbox_);
      if (n == 0) {
        frame.header.type = wire::frame_type::pong;
        frame.header.id = 99;
        co_return frame;
      }
      input_.append(buffer_, n);
    }
  }

  void send(std::string frame, std::vector<unique_fd> fds = {}) {
    frame[5] = static_cast<char>(fds.size());
    channel_->send(std::move(frame), std::move(fds));
  }

  /// Takes the hello and answers it.
  task<void> greet() {
    const seen_frame hello = co_await next();
    CHECK(hello.header.type == wire::frame_type::hello);
    wire::welcome answer;
    answer.nonce = 1234;
    std::string payload;
    answer.put(payload);
    send(make_frame(wire::frame_type::welcome, 0, wire::stream::in, payload));
  }

  void close() { channel_->close(); }

 private:
  std::shared_ptr<resident_channel> channel_;
  fd_inbox inbox_;
  std::string input_;
  char buffer_[8192];
};

/// A link and the resident at its other end.
struct fake_pair {
  explicit fake_pair(asio::any_io_executor executor, resident_link_options options = {}) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    ours = make_socket_channel(executor, unique_fd(ends[0]));
    resident = std::make_unique<fake_resident>(executor, unique_fd(ends[1]));
    link = std::make_unique<resident_link>(executor, std::move(options));
  }

  std::shared_ptr<resident_channel> ours;
  std::unique_ptr<fake_resident> resident;
  std::unique_ptr<resident_link> link;
};

}  // namespace berth::test
