// The owner's end of a connection: arbitrary bytes, in arbitrary pieces, plain and under a lease, cut and connected again. The
// input is a script like that of resident_channel.
#include "context/resident_session.hpp"

#include <asio/io_context.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace berth;

/// Keeps the last hello, whose token a good resident would repeat.
class recorder final : public resident_channel {
 public:
  task<std::size_t> read(std::span<char>, fd_inbox&) override { throw std::logic_error("nobody reads"); }
  void send(std::string bytes, std::vector<unique_fd>) override {
    if (greeting.empty()) greeting = std::move(bytes);
  }
  bool passes_fds() const noexcept override { return true; }
  bool has_input() const noexcept override { return false; }
  void close() noexcept override {}

  std::string greeting;
};

class sink final : public frame_sink {
 public:
  void on_frame(const wire::header& h, std::string_view payload, fd_batch fds) override {
    if (h.size != payload.size() || (!fds.truncated && fds.fds.size() != h.fds)) std::abort();
  }
  void on_lost(const std::string&) override {}
};

std::string frame_bytes(wire::frame_type type, std::uint32_t id, std::string_view payload, std::uint8_t fds = 0) {
  char head[wire::header_size];
  wire::put_header({static_cast<std::uint32_t>(payload.size()), type, fds, 1, id}, head);
  return std::string(head, sizeof head).append(payload);
}

wire::hello hello_of(const recorder& channel) {
  wire::hello h;
  if (!h.get(channel.greeting.substr(channel.greeting.size() - wire::hello::size))) std::abort();
  return h;
}

std::string token_of(const recorder& channel) {
  const wire::hello h = hello_of(channel);
  return std::string(h.token, wire::token_size);
}

std::string welcome(const recorder& channel, bool leased, std::uint64_t received) {
  wire::welcome w;
  w.received = received;
  w.attempt = hello_of(channel).attempt - (received % 7 == 6);  // or of the connection before
  const std::string token = token_of(channel);
  std::copy_n(token.begin(), token.size(), w.token);
  std::string payload;
  w.put(payload);
  return (leased ? token : std::string()) + frame_bytes(wire::frame_type::welcome, 0, payload);
}

std::string number(wire::frame_type type, std::uint32_t id, std::uint64_t n, std::uint8_t fds = 0) {
  std::string payload;
  wire::put_number(payload, n);
  return frame_bytes(type, id, payload, fds);
}

class script {
 public:
  explicit script(std::uint8_t how) : leased_((how & 1) != 0), session_(io_.get_executor(), logger()) {
    if (leased_) session_.use_lease(std::chrono::minutes(1));
    connect();
    session_.add(std::make_shared<sink>());
    if ((how & 2) == 0) take(welcome(*channel_, leased_, 0));
  }

  /// False once the connection is of no use.
  bool step(std::uint8_t kind, std::uint16_t amount, std::string_view raw) {
    const std::uint32_t id = amount % 3;
    if ((kind & 16) != 0) session_.inbox().batches.push_back(batch(amount % 4, (kind & 32) != 0));
    switch (kind % 8) {
      case 0:
        return take(welcome(*channel_, leased_, amount % 100));
      case 1:
        return take(frame_bytes(wire::frame_type::output, id, std::string(amount, 'x')));
      case 2:
        return take(number(wire::frame_type::ack, 0, amount));
      case 3:
        return take(number(wire::frame_type::started, id, amount, static_cast<std::uint8_t>(amount % 4)));
      case 4:
        return take(token_of(*channel_).substr(0, amount % 17));
      case 5:
        session_.send(make_number_frame(wire::frame_type::ping, 0, amount));
        if (amount % 5 != 0 || !leased_) return true;
        session_.cut_off();
        connect();
        return true;
      default:
        return take(raw);
    }
  }

  void end() {
    session_.lose("the input has ended");
    io_.poll();
  }

 private:
  void connect() {
    channel_ = std::make_shared<recorder>();
    session_.connect(channel_, {});
  }

  bool take(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::span<char> space = session_.space();
      const std::size_t now = std::min(space.size(), bytes.size());
      std::copy_n(bytes.begin(), now, space.begin());
      bytes.remove_prefix(now);
      if (!session_.received(now)) return false;
    }
    return true;
  }

  static fd_batch batch(std::size_t count, bool truncated) {
    fd_batch b;
    for (std::size_t i = 0; i < count; ++i) b.fds.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    b.truncated = truncated;
    return b;
  }

  bool leased_;
  asio::io_context io_;
  resident_session session_;
  std::shared_ptr<recorder> channel_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  script s(data[0]);
  for (std::size_t at = 1; at + 3 <= size;) {
    const std::uint8_t kind = data[at];
    const auto amount = static_cast<std::uint16_t>(data[at + 1] | data[at + 2] << 8);
    at += 3;
    const std::size_t raw = kind % 8 >= 6 ? std::min<std::size_t>(amount, size - at) : 0;
    if (!s.step(kind, amount, {reinterpret_cast<const char*>(data) + at, raw})) break;
    at += raw;
  }
  s.end();
  return 0;
}
