#pragma once
/// The sending of a body, beside whatever else happens on the connection.

#include "berth/files.hpp"
#include "http/byte_stream.hpp"
#include "http/message.hpp"

#include <exception>
#include <memory>
#include <string>
#include <system_error>

namespace berth::http {

/// How it goes; shared by the one who sends and the one who waits for the response.
struct upload_state {
  /// All of it was written.
  bool done = false;
  /// The connection took no more. The response may be there all the same.
  std::error_code write_failure = {};
  /// The source threw, or gave another number of bytes than it had said. The connection was closed for it.
  std::exception_ptr source_failure = {};
};

/// Sends the body in its framing, as fast as the connection takes it, and records how it ended. Throws for its cancellation only.
task<void> send_body(stream_ptr stream, std::unique_ptr<byte_source> source, body_framing framing,
                     std::shared_ptr<upload_state> state);

}  // namespace berth::http
