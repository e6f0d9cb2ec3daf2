#include "cli/chosen_ports.hpp"

#include "cli/subcommand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace berth::cli {
namespace {

bool is_left_to_daemon(const docker_port& port) { return port.host == 0; }

bool is_before(const docker_port& one, const docker_port& other) {
  return std::tie(one.container, one.address, one.host) < std::tie(other.container, other.address, other.host);
}

}  // namespace

task<std::vector<docker_port>> chosen_ports(docker_context place, handle where, std::vector<docker_port> asked) {
  std::vector<docker_port> chosen;
  if (std::none_of(asked.begin(), asked.end(), is_left_to_daemon)) co_return chosen;
  auto asking = place.published_ports(std::move(where));
  chosen = co_await std::move(asking);
  const auto is_told_before = [&asked](const docker_port& port) {
    const auto is_it = [&port](const docker_port& each) {
      return each.container == port.container && each.host == port.host;
    };
    return std::any_of(asked.begin(), asked.end(), is_it);
  };
  chosen.erase(std::remove_if(chosen.begin(), chosen.end(), is_told_before), chosen.end());
  std::sort(chosen.begin(), chosen.end(), is_before);
  co_return chosen;
}

void tell_ports(std::string_view subcommand, const std::vector<docker_port>& chosen) {
  for (const docker_port& port : chosen) {
    const bool has_colons = port.address.find(':') != port.address.npos;
    print_error(subcommand, fmt::format("port {} of the container is {}:{}", port.container,
                                        has_colons ? '[' + port.address + ']' : port.address, port.host));
  }
}

}  // namespace berth::cli
