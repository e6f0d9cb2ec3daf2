// Runs commands that nobody has read in a kernel sandbox: they write in one directory, and have no network.

#include <berth/process_context.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <exception>
#include <filesystem>
#include <iostream>

berth::task<void> try_out(berth::context place) {
  auto here = co_await place.spawn();
  auto good = co_await place.exec(here, "echo 42 >answer && cat answer");
  std::cout << good.std_out;

  auto bad = co_await place.exec(here, "touch /etc/mine");
  std::cout << "exit code " << bad.status.code() << '\n';
  // The last line of what it printed says the same, for a reader who knows nothing of sandboxes.
  if (bad.denied) std::cout << "denied: " << bad.denied->path << '\n';
  // No sandbox could be made: then nothing has run.
  if (bad.status.reason() == berth::end_reason::start_failed) std::cerr << bad.status.message() << '\n';
  co_await place.destroy(here);
}

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

int main() {
  const auto directory = std::filesystem::temp_directory_path() / "berth-example-isolation";
  {
    asio::io_context io(1);
    berth::process_context_options options;
    options.cwd = directory;
    options.isolation = berth::isolation_settings().network(berth::access_rule::deny);
    asio::co_spawn(io, try_out(berth::make_process_context(io, options)), rethrow);
    io.run();
  }
  std::filesystem::remove_all(directory);
}
