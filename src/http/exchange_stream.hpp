#pragma once
/// An upgraded connection whose incoming side still comes in chunks.

#include "http/exchange.hpp"

namespace berth::http {

/// Reads the content of the response's body; writes to the connection as it is.
stream_ptr make_exchange_stream(std::shared_ptr<exchange> from);

}  // namespace berth::http
