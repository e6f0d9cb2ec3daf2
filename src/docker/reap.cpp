#include "docker/reap.hpp"

#include "berth/error.hpp"
#include "core/blocking.hpp"
#include "core/deadline.hpp"
#include "docker/container.hpp"
#include "docker/daemon_connect.hpp"
#include "docker/socket_offer.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace berth {
namespace {

constexpr std::chrono::seconds removal_takes{60};

std::string name_in(const json& one) {
  const json_array* names = one["Names"].if_array();
  std::string name = names != nullptr && !names->empty() ? names->front().text() : std::string();
  if (name.starts_with('/')) name.erase(0, 1);
  return name;
}

docker_labels labels_in(const json& one) {
  docker_labels labels;
  if (const json_object* all = one["Labels"].if_object()) {
    for (const auto& [name, value] : *all) labels.emplace_back(name, value.text());
  }
  return labels;
}

found_container read_container(const json& one, const owner_view& here) {
  found_container found;
  found.id = one.at("Id").as_string();
  found.name = name_in(one);
  found.image = one["Image"].text();
  found.state = one["State"].text();
  const std::optional<owner_identity> owner = read_owner(labels_in(one));
  if (!owner) return found;
  found.owner = state_of(*owner, here);
  found.owner_pid = owner->pid;
  found.owner_host = owner->host;
  return found;
}

task<void> remove_found(std::shared_ptr<docker_engine> engine, std::string id) {
  const container box(std::move(engine), std::move(id));
  co_await box.remove();
}

/// Why it is still there; nothing where it is gone.
task<std::string> try_removal(std::shared_ptr<docker_engine> engine, std::string id) {
  try {
    auto removing = remove_found(std::move(engine), std::move(id));
    co_await with_deadline(std::move(removing), removal_takes);
  } catch (const std::system_error& failure) {
    if (is_cancelled(failure.code())) throw;
    co_return failure.what();
  }
  co_return std::string();
}

task<std::vector<found_container>> reap_all(asio::any_io_executor executor, reap_options options) {
  daemon_choice choice;
  choice.host = options.host();
  choice.context = options.docker_context();
  blocking_pool pool(1);
  auto looking = pool.run(this_owner);
  owner_view here{};
  here.self = co_await std::move(looking);
  here.started = start_of_process;
  auto connecting = connect_daemon(std::move(executor), std::move(choice));
  auto engine = co_await std::move(connecting);
  if (!options.is_dry_run()) {
    auto sweeping = pool.run(remove_stale_offers);
    co_await std::move(sweeping);
  }
  auto reaping = reap_on(std::move(engine), std::move(here), options.is_dry_run());
  co_return co_await std::move(reaping);
}

}  // namespace

std::vector<found_container> read_containers(const json& list, const owner_view& here) {
  std::vector<found_container> all;
  for (const json& each : list.as_array()) all.push_back(read_container(each, here));
  std::sort(all.begin(), all.end(), [](const found_container& a, const found_container& b) { return a.name < b.name; });
  return all;
}

task<std::vector<found_container>> reap_on(std::shared_ptr<docker_engine> engine, owner_view here, bool dry_run) {
  const std::string filter = json(json_object{{"label", json_array{json(owner_label)}}}).dump();
  http::query_builder query;
  query.add("all", "1").add("filters", filter);
  const json list = co_await engine->ask("GET", query.behind("/containers/json"));
  std::vector<found_container> all = read_containers(list, here);
  for (found_container& each : all) {
    if (dry_run || each.owner != owner_state::dead) continue;
    auto removing = try_removal(engine, each.id);
    each.failure = co_await std::move(removing);
    each.removed = each.failure.empty();
  }
  co_return all;
}

task<std::vector<found_container>> reap_containers(asio::any_io_executor executor, reap_options options) {
  return reap_all(std::move(executor), std::move(options));
}

}  // namespace berth
