#pragma once
/// The first step of a connection: a socket that is connected.

#include "http/connect.hpp"

#include <chrono>

namespace berth::http {

/// Where a connection under way has come to, for the message of a deadline.
struct connect_progress {
  phase at = phase::connect;
  std::string tried = {};  ///< "ADDRESS: what became of it, ..."
};

/// Of a host: what an override says, else what the lookup finds.
/// Errors: http_error in phase resolve.
task<std::vector<asio::ip::address>> addresses_of(url host, connect_options options);

/// Tries each address until the deadline, which they share.
/// Errors: http_error in phase connect, with the code of the last attempt; its message tells each.
task<stream_ptr> connect_in_turn(std::vector<asio::ip::address> addresses, url to,
                                 std::chrono::steady_clock::time_point deadline, std::shared_ptr<connect_progress> now);

/// To a socket file; a path that begins with '@' is an abstract name. Waits while the listener's queue is full.
/// Errors: http_error in phase connect.
task<stream_ptr> connect_unix(std::string path);

}  // namespace berth::http
