#include "http/exchange.hpp"

#include "core/deadline.hpp"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

namespace berth::http {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// What goes out with the head in one write; more than that goes out beside the waiting for the response.
constexpr std::size_t small_body = 64 * 1024;
constexpr std::size_t buffer_size = 64 * 1024;
constexpr auto continue_patience = 1s;

}  // namespace

exchange::exchange(asio::any_io_executor executor, connection_lease lease, std::string shown, std::string method,
                   std::chrono::milliseconds idle, std::shared_ptr<request_progress> progress)
    : lease_(std::move(lease)),
      shown_(std::move(shown)),
      reader_(method),
      idle_(idle),
      progress_(std::move(progress)),
      reused_(lease_.reused()),
      written_before_(lease_.stream()->written()),
      group_(std::move(executor)) {}

// The server can act once the whole head is there, not before.
bool exchange::may_have_arrived() const noexcept {
  if (reader_.started()) return true;
  return head_size_ > 0 && lease_.stream() && lease_.stream()->written() - written_before_ >= head_size_;
}

void exchange::note_progress(phase at) {
  progress_->at = at;
  progress_->may_have_arrived = true;  // nobody asks how many bytes went out when a deadline passes
}

void exchange::fail(phase at, std::error_code code, std::string why, std::string remote) const {
  throw http_error(at, may_have_arrived(), code, fmt::format("{}: {}", shown_, why), std::move(remote));
}

task<void> exchange::begin(std::shared_ptr<exchange> self, outgoing what) {
  self->note_progress(phase::write);
  co_await send(self, std::move(what));
  self->note_progress(phase::read);
  while (!self->has_final_) {
    const event found = co_await next_event(self);
    self->has_final_ = found == event::head;
  }
  // Who refuses a body does not read it.
  if (self->upload_ && !self->upload_->done && self->head().status >= 400) self->group_.cancel();
}

task<void> exchange::send(std::shared_ptr<exchange> self, outgoing what) {
  std::string first = write_head(what.head, what.framing);
  self->head_size_ = first.size();
  const bool small = !what.source && what.bytes.size() <= small_body;
  if (small && !what.expects_continue) first += what.bytes;
  co_await write(self, std::move(first));
  if (what.framing.how == body_framing::kind::none || (small && !what.expects_continue)) co_return;
  if (what.expects_continue) {
    const bool wanted = co_await wants_body(self);
    self->unsent_ = !wanted;
    if (!wanted) co_return;
  }
  if (!what.source) what.source = make_byte_source(std::move(what.bytes));
  if (!self->upload_) self->upload_ = std::make_shared<upload_state>();
  if (self->upload_->write_failure) co_return;
  self->group_.spawn(send_body(self->lease_.stream(), std::move(what.source), what.framing, self->upload_));
}

/// Waits for "100 Continue"; who says nothing for a second gets the body unasked.
task<bool> exchange::wants_body(std::shared_ptr<exchange> self) {
  const auto until = clock::now() + continue_patience;
  while (clock::now() < until) {
    const auto found = std::make_shared<std::optional<event>>();
    auto waiting = ends_within(keep_result(next_event(self), found), until - clock::now());
    const bool answered = co_await std::move(waiting);
    if (!answered) co_return true;
    self->has_final_ = *found == event::head;
    if (self->has_final_) co_return false;
    if (self->head().status == 100) co_return true;
  }
  co_return true;
}

/// A connection that takes no more may still have a response for us.
task<void> exchange::write(std::shared_ptr<exchange> self, std::string bytes) {
  try {
    co_await self->lease_.stream()->write(std::move(bytes));
  } catch (const std::system_error& failed) {
    if (is_cancelled(failed.code())) throw;
    self->upload_ = std::make_shared<upload_state>();
    self->upload_->write_failure = failed.code();
  }
}

task<exchange::event> exchange::next_event(std::shared_ptr<exchange> self) {
  for (;;) {
    try {
      const event found = self->reader_.next();
      if (found != event::need_more) co_return found;
    } catch (const http_error& failed) {
      const auto& upload = self->upload_;
      if (upload && upload->source_failure) std::rethrow_exception(upload->source_failure);
      if (failed.code() == errc::lost && upload && upload->write_failure)
        self->fail(phase::write, upload->write_failure, "the connection broke while the request was sent");
      self->fail(failed.at(), failed.code(), failed.message(), failed.remote());
    }
    co_await receive(self);
  }
}

task<void> exchange::receive(std::shared_ptr<exchange> self) {
  self->buffer_.resize(buffer_size);
  try {
    const std::size_t n = co_await read_within_idle(self);
    if (n == 0) self->reader_.finish();
    self->reader_.feed(std::string_view(self->buffer_).substr(0, n));
  } catch (const std::system_error& failed) {
    const auto& upload = self->upload_;
    if (upload && upload->source_failure) std::rethrow_exception(upload->source_failure);
    if (is_cancelled(failed.code())) throw;
    if (upload && upload->write_failure)
      self->fail(phase::write, upload->write_failure, "the connection broke while the request was sent");
    if (dynamic_cast<const http_error*>(&failed) != nullptr) throw;
    self->fail(phase::read, failed.code(), "the connection broke before the response was complete");
  }
}

// Waiting for a head, with nothing to send, has the deadline of the request alone.
bool exchange::is_streaming() const noexcept { return has_final_ || (upload_ && !upload_->done); }

task<std::size_t> exchange::read_within_idle(std::shared_ptr<exchange> self) {
  const std::span<char> into(self->buffer_);
  while (self->idle_ != 0ms && self->is_streaming()) {
    const std::uint64_t written = self->lease_.stream()->written();
    const auto got = std::make_shared<std::optional<std::size_t>>();
    auto reading = ends_within(keep_result(self->lease_.stream()->read(into), got), self->idle_);
    const bool ended = co_await std::move(reading);
    if (ended) co_return **got;
    if (self->is_streaming() && self->lease_.stream()->written() == written)
      self->fail(phase::read, errc::timeout, fmt::format("no byte for {} ms", self->idle_.count()));
  }
  co_return co_await self->lease_.stream()->read(into);
}

task<std::string> exchange::next(std::shared_ptr<exchange> self) {
  if (self->ended_) co_return std::string();
  const event found = co_await next_event(self);
  if (found == event::body) co_return self->reader_.take_body();
  self->end();
  co_return std::string();
}

void exchange::end() {
  ended_ = true;
  const bool sent = !upload_ || upload_->done;
  group_.cancel();
  if (sent && !unsent_ && reader_.reusable())
    lease_.give_back();
  else
    lease_ = connection_lease();
}

stream_ptr exchange::detach() {
  ended_ = true;
  group_.cancel();
  auto stream = lease_.detach();
  return make_stream_after(reader_.take_rest(), std::move(stream));
}

}  // namespace berth::http
