// Runs a command in a container that has no network, and removes it.

#include <berth/docker_context.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <exception>
#include <iostream>

berth::task<void> compute(berth::context place) {
  auto here = co_await place.spawn();  // pulls the image where it is missing, and starts a container
  co_await place.write_file(here, "numbers", "1\n2\n3\n");
  auto result = co_await place.exec(here, "awk '{ sum += $1 } END { print sum }' numbers");
  std::cout << result.std_out;
  co_await place.destroy(here);
}

void tell(const berth::pull_progress& now) { std::cerr << now.layer << ' ' << now.status << '\n'; }

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

int main() {
  try {
    asio::io_context io(1);
    berth::docker_context_options options;
    options.image = "busybox";
    options.network = "none";
    options.limits.memory_mb = 256;
    options.on_pull = tell;
    asio::co_spawn(io, compute(berth::make_docker_context(io, options)), rethrow);
    io.run();
  } catch (const berth::error& failure) {
    std::cerr << failure.what() << '\n';  // no daemon, no image: one line that says what was tried
    return 1;
  }
}
