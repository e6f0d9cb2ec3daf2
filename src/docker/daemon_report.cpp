#include "docker/daemon_report.hpp"

#include "core/json.hpp"
#include "docker/daemon_connect.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace berth {
namespace {

bool is_rootless_in(const json& info) {
  const json_array* options = info["SecurityOptions"].if_array();
  if (options == nullptr) return info["Rootless"].if_bool().value_or(false);
  return std::any_of(options->begin(), options->end(),
                     [](const json& each) { return each.text().find("rootless") != std::string::npos; });
}

std::vector<std::string> missing_limits_in(const json& info) {
  std::vector<std::string> missing;
  if (!info["MemoryLimit"].if_bool().value_or(true)) missing.emplace_back("memory");
  if (!info["CpuCfsQuota"].if_bool().value_or(true)) missing.emplace_back("cpu");
  if (!info["PidsLimit"].if_bool().value_or(true)) missing.emplace_back("pids");
  return missing;
}

std::vector<std::string> images_in(const json& list) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (const json& each : list.as_array()) {
    const json_array* names = each["RepoTags"].if_array();
    if (names == nullptr || names->empty()) continue;
    const std::string name = names->front().text();
    if (!name.empty() && name.find("<none>") == std::string::npos)
      found.emplace_back(each["Size"].if_int().value_or(0), name);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& [size, name] : found) names.push_back(std::move(name));
  return names;
}

}  // namespace

task<daemon_report> examine_daemon(asio::any_io_executor executor, std::string host, std::string context) {
  daemon_choice choice;
  choice.host = std::move(host);
  choice.context = std::move(context);
  auto connecting = connect_daemon(std::move(executor), std::move(choice));
  const std::shared_ptr<docker_engine> engine = co_await std::move(connecting);
  const json info = co_await engine->ask("GET", "/info");
  const json images = co_await engine->ask("GET", "/images/json");
  daemon_report report;
  report.url = engine->address().url;
  report.from = engine->address().from;
  report.version = info["ServerVersion"].text();
  report.api_version = engine->version().text();
  report.driver = info["Driver"].text();
  report.cgroups = info["CgroupVersion"].text();
  report.is_podman = engine->is_podman();
  report.is_rootless = is_rootless_in(info);
  report.missing_limits = missing_limits_in(info);
  report.images = images_in(images);
  co_return report;
}

}  // namespace berth
