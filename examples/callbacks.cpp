// Without coroutines of your own: co_spawn takes what Berth returns and calls back with its result.

#include <berth/process_context.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <exception>
#include <iostream>
#include <system_error>
#include <utility>

using namespace std::chrono_literals;

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

// Runs one command after another in a place of its own; each step begins in the callback of the one before.
class two_commands {
 public:
  explicit two_commands(asio::io_context& io) : io_(io), place_(berth::make_process_context(io)), patience_(io) {}

  void begin() {
    asio::co_spawn(io_, place_.spawn(), [this](std::exception_ptr failure, berth::handle here) {
      rethrow(failure);
      here_ = std::move(here);
      greet();
    });
  }

 private:
  void greet() {
    asio::co_spawn(io_, place_.exec(here_, "echo hello; exit 3"),
                   [this](std::exception_ptr failure, berth::exec_result result) {
                     rethrow(failure);
                     std::cout << result.std_out << berth::describe(result.status) << '\n';
                     wait_in_vain();
                   });
  }

  // A slot is how a callback cancels: the tree of the command is ended, and its result still comes.
  void wait_in_vain() {
    const auto ended = [this](std::exception_ptr failure, berth::exec_result result) {
      rethrow(failure);
      std::cout << berth::describe(result.status) << '\n';
      asio::co_spawn(io_, place_.destroy(here_), rethrow);
    };
    asio::co_spawn(io_, place_.exec(here_, "sleep 60"), asio::bind_cancellation_slot(stop_.slot(), ended));
    patience_.expires_after(100ms);
    patience_.async_wait([this](std::error_code) { stop_.emit(asio::cancellation_type::terminal); });
  }

  asio::io_context& io_;
  berth::context place_;
  berth::handle here_;
  asio::steady_timer patience_;
  asio::cancellation_signal stop_;
};

int main() {
  asio::io_context io(1);
  two_commands both(io);
  both.begin();
  io.run();
}
