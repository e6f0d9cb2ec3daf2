#pragma once
/// Names into addresses, without holding up the io_context or its end.

#include "berth/task.hpp"

#include <asio/ip/address.hpp>

#include <functional>
#include <string>
#include <vector>

namespace berth::http {

/// Finds the addresses of a name, in the order in which they are to be tried. It may block, is called on a thread of its own, and
/// throws what went wrong.
using name_lookup = std::function<std::vector<asio::ip::address>(const std::string& name)>;

/// getaddrinfo. Errors: a std::system_error in Asio's netdb category, or of the system.
std::vector<asio::ip::address> look_up_blocking(const std::string& name);

/// Looks a name up; a literal address is given back at once.
///
/// Errors: those of the lookup; resource_exhausted while 32 others hang.
/// Cancel: ends at once. The system's lookup cannot be stopped: its thread goes on and then ends by itself; neither the io_context
///         nor the process waits for it.
task<std::vector<asio::ip::address>> look_up(std::string name, name_lookup lookup);

}  // namespace berth::http
