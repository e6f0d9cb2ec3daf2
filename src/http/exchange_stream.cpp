#include "http/exchange_stream.hpp"

#include <utility>

namespace berth::http {
namespace {

class exchange_stream final : public byte_stream, public std::enable_shared_from_this<exchange_stream> {
 public:
  explicit exchange_stream(std::shared_ptr<exchange> from) : from_(std::move(from)), raw_(from_->stream()) {
    from_->become_stream();
  }

  task<std::size_t> read(std::span<char> into) override { return read_some(shared_from_this(), into); }
  task<void> write(std::string bytes) override { return raw_->write(std::move(bytes)); }
  task<void> shutdown_write() override { return raw_->shutdown_write(); }
  bool write_last(std::string_view bytes) noexcept override { return raw_->write_last(bytes); }
  void close() noexcept override { raw_->close(); }
  bool is_quiet() const noexcept override { return piece_.empty() && raw_->is_quiet(); }
  std::uint64_t written() const noexcept override { return raw_->written(); }

 private:
  static task<std::size_t> read_some(std::shared_ptr<exchange_stream> self, std::span<char> into) {
    if (self->piece_.empty()) self->piece_ = co_await exchange::next(self->from_);
    const std::size_t n = self->piece_.copy(into.data(), into.size());
    self->piece_.erase(0, n);
    co_return n;
  }

  std::shared_ptr<exchange> from_;
  stream_ptr raw_;
  std::string piece_;
};

}  // namespace

stream_ptr make_exchange_stream(std::shared_ptr<exchange> from) {
  return std::make_shared<exchange_stream>(std::move(from));
}

}  // namespace berth::http
