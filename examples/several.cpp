// Runs three commands at once on one handle, each with a deadline of its own, and waits for all of them.

#include <berth/process_context.hpp>

#include <asio/co_spawn.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <exception>
#include <iostream>
#include <string_view>
#include <utility>

using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

void tell(std::string_view name, const berth::exec_result& result) {
  std::cout << name << ": ";
  if (result.ok()) {
    std::cout << result.std_out;
  } else if (result.status.reason() == berth::end_reason::timed_out) {
    std::cout << "took too long\n";
  } else {
    std::cout << "code " << result.status.code() << ", " << berth::describe(result.status) << '\n';
  }
}

berth::task<void> several(berth::context place) {
  auto here = co_await place.spawn();
  auto count = place.exec(here, berth::command("seq 100 | wc -l").timeout(10s));
  auto fail = place.exec(here, berth::command("exit 3").timeout(10s));
  auto hang = place.exec(here, berth::command("sleep 60").timeout(300ms));
  auto all = std::move(count) && std::move(fail) && std::move(hang);
  auto [counted, failed, hung] = co_await std::move(all);
  tell("count", counted);
  tell("fail", failed);
  tell("hang", hung);
  co_await place.destroy(here);
}

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

int main() {
  asio::io_context io(1);
  asio::co_spawn(io, several(berth::make_process_context(io)), rethrow);
  io.run();
}
