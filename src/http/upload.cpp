#include "http/upload.hpp"

#include "berth/error.hpp"

#include <asio/cancellation_type.hpp>
#include <asio/this_coro.hpp>

#include <cstdint>
#include <utility>

namespace berth::http {
namespace {

std::exception_ptr wrong_size() {
  return std::make_exception_ptr(error(errc::protocol, "the body of the request is not of the size that was said"));
}

task<std::string> next_piece(byte_source& source, std::shared_ptr<upload_state> state) {
  std::exception_ptr failure;
  try {
    co_return co_await source.next();
  } catch (...) {
    failure = std::current_exception();
  }
  const auto mine = co_await asio::this_coro::cancellation_state;
  if (mine.cancelled() != asio::cancellation_type::none) std::rethrow_exception(failure);
  state->source_failure = failure;
  co_return std::string();
}

task<void> send_pieces(stream_ptr stream, std::unique_ptr<byte_source> source, body_framing framing,
                       std::shared_ptr<upload_state> state) {
  const bool chunked = framing.how == body_framing::kind::chunked;
  std::uint64_t left = framing.length;
  for (;;) {
    std::string piece = co_await next_piece(*source, state);
    if (state->source_failure) co_return;
    if (piece.empty()) break;
    if (!chunked && piece.size() > left) state->source_failure = wrong_size();
    if (state->source_failure) co_return;
    left -= chunked ? 0 : piece.size();
    if (chunked) piece = write_chunk(piece);
    co_await stream->write(std::move(piece));
  }
  if (!chunked && left > 0) state->source_failure = wrong_size();
  if (state->source_failure) co_return;
  if (chunked) co_await stream->write(write_last_chunk());
  state->done = true;
}

}  // namespace

task<void> send_body(stream_ptr stream, std::unique_ptr<byte_source> source, body_framing framing,
                     std::shared_ptr<upload_state> state) {
  try {
    co_await send_pieces(stream, std::move(source), framing, state);
  } catch (const std::system_error& failed) {
    if (is_cancelled(failed.code())) throw;
    state->write_failure = failed.code();
  }
  if (state->source_failure) stream->close();
}

}  // namespace berth::http
