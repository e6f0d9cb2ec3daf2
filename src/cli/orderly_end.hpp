#pragma once
/// Ends of a subcommand: by failure, by signal, and of its place.

#include <berth/context.hpp>

#include <asio/signal_set.hpp>

#include <exception>
#include <initializer_list>
#include <optional>
#include <string>

namespace berth::cli {

/// Adds these signals. Those that whoever started us wants ignored stay so, as under nohup.
void listen_for(asio::signal_set& signals, std::initializer_list<int> numbers);

/// Awaits, and gives what was thrown instead of throwing it.
task<std::exception_ptr> failure_of(task<void> work);

/// Its `what()`.
std::string message_of(const std::exception_ptr& failure);

/// Destroys the place, if there is one. Errors: timeout where that takes longer than 10 s.
task<void> end_place(context place, std::optional<handle> where);

}  // namespace berth::cli
