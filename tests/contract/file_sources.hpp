#pragma once
/// Producers for writes, and readers of whole streams.

#include <berth/files.hpp>

#include "core/event.hpp"

#include <memory>
#include <stdexcept>
#include <string>

namespace berth::contract {

/// Bytes i % 251, in pieces of 100 000 bytes.
class pattern_source final : public byte_source {
 public:
  explicit pattern_source(std::uint64_t size) : left_(size) {}
  task<std::string> next() override {
    std::string piece(static_cast<std::size_t>(std::min<std::uint64_t>(left_, 100'000)), '\0');
    for (char& byte : piece) {
      byte = static_cast<char>(at_);
      at_ = at_ == 250 ? 0 : at_ + 1;
    }
    left_ -= piece.size();
    return give(std::move(piece));
  }

 private:
  static task<std::string> give(std::string bytes) { co_return bytes; }
  std::uint64_t left_;
  unsigned at_ = 0;
};

/// Gives the pieces of another stream, then throws.
class failing_source final : public byte_source {
 public:
  explicit failing_source(std::unique_ptr<byte_source> first) : first_(std::move(first)) {}
  task<std::string> next() override { return next_of(first_.get()); }

 private:
  static task<std::string> next_of(byte_source* first) {
    std::string piece = co_await first->next();
    if (piece.empty()) throw std::runtime_error("the producer failed");
    co_return piece;
  }
  std::unique_ptr<byte_source> first_;
};

/// Gives one piece, then waits for ever.
class stuck_source final : public byte_source {
 public:
  stuck_source(const asio::any_io_executor& executor, std::string first) : never_(executor), first_(std::move(first)) {}
  task<std::string> next() override { return next_of(this); }

 private:
  static task<std::string> next_of(stuck_source* self) {
    if (self->first_.empty()) co_await self->never_.wait();
    co_return std::exchange(self->first_, {});
  }
  event never_;
  std::string first_;
};

inline task<std::string> drain(std::unique_ptr<byte_source> from) {
  std::string all;
  for (;;) {
    std::string piece = co_await from->next();
    if (piece.empty()) co_return all;
    all += piece;
  }
}

}  // namespace berth::contract
