#include "docker/daemon_connect.hpp"

#include "core/blocking.hpp"
#include "docker/surroundings.hpp"

#include <string>
#include <utility>
#include <vector>

namespace berth {
namespace {

struct found_daemons {
  std::vector<daemon_address> all;
  std::string version;
};

}  // namespace

task<std::shared_ptr<docker_engine>> connect_daemon(asio::any_io_executor executor, daemon_choice choice) {
  blocking_pool pool(1);
  auto look = [choice] {
    const docker_surroundings here = real_docker_surroundings();
    found_daemons found;
    found.all = find_daemons(choice, here);
    found.version = here.variable("DOCKER_API_VERSION").value_or("");
    return found;
  };
  auto looking = pool.run(std::move(look));
  found_daemons found = co_await std::move(looking);
  auto connecting = docker_engine::connect(std::move(executor), std::move(found.all), std::move(found.version));
  co_return co_await std::move(connecting);
}

}  // namespace berth
