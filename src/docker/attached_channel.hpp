#pragma once
/// A resident that is reached over the attached streams of its container.

#include "context/resident_channel.hpp"
#include "core/logger.hpp"
#include "http/byte_stream.hpp"

#include <asio/any_io_executor.hpp>

#include <memory>

namespace berth {

/// Frames of the Engine around what the resident says; what it writes to standard error goes to the log.
std::shared_ptr<resident_channel> make_attached_channel(asio::any_io_executor executor, http::stream_ptr stream,
                                                        logger log);

}  // namespace berth
