#pragma once
// The coroutine type of the library, and what every function that returns one promises.

#include <asio/awaitable.hpp>

namespace berth {

/// An operation that runs when it is awaited, on the executor of the awaiting coroutine.
///
/// Unless its comment says otherwise, a function that returns a task
/// - is not thread-safe: everything happens on the one thread that runs the io_context;
/// - owns its parameters. A reference parameter names a resource that the caller keeps alive for the whole await;
/// - keeps the object alive that it was called on, so that object may be destroyed while the task runs;
/// - can be cancelled with Asio's terminal cancellation: it then ends promptly with `asio::error::operation_aborted`;
/// - throws `berth::error`, or a `std::system_error` with the code of the system or of Asio.
///
/// Name an aggregate before awaiting a call that takes it: g++ 12 destroys aggregate temporaries of an awaited
/// expression twice.
template <class T = void>
using task = asio::awaitable<T>;

}  // namespace berth
