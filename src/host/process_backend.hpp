#pragma once
/// The backend of this host: each place is a resident beside us.

#include "berth/backend.hpp"
#include "berth/process_context.hpp"
#include "context/resident_process.hpp"

#include <asio/any_io_executor.hpp>

#include <memory>

namespace berth {

/// `transport` is for tests: handing the pipes over is better wherever it can be done, and here it always can.
std::shared_ptr<context_backend> make_process_backend(asio::any_io_executor executor, process_context_options options,
                                                      resident_transport transport = resident_transport::handed);

}  // namespace berth
