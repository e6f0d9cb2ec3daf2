#include "docker/given_container.hpp"

#include "berth/error.hpp"
#include "core/shown_path.hpp"

#include <charconv>
#include <utility>

namespace berth {
namespace {

void require_running(const json& state, const std::string& shown) {
  const std::string status = state["Status"].text();
  const bool paused = state["Paused"].if_bool().value_or(false);
  if (state["Running"].if_bool().value_or(false) && !paused) return;
  throw error(make_error_code(errc::conflict), "container " + shown +
                                                   (paused ? " is paused" : " does not run: it is " + status) +
                                                   "; commands need one that runs");
}

void read_mounts(const json& all, given_container& into) {
  if (const json_object* tmpfs = all["HostConfig"]["Tmpfs"].if_object()) {
    for (const auto& [path, options] : *tmpfs) into.memory_directories.push_back(path);
  }
  const json_array* mounts = all["Mounts"].if_array();
  if (mounts == nullptr) return;
  for (const json& each : *mounts) {
    const std::string kind = each["Type"].text();
    const std::string path = each["Destination"].text();
    if (kind == "tmpfs") into.memory_directories.push_back(path);
    if (kind == "volume" && each["RW"].if_bool().value_or(false)) into.volumes.push_back(path);
  }
  for (const json& each : *mounts) {  // directories of the host: only where nothing else is
    if (each["Type"].text() == "bind" && each["RW"].if_bool().value_or(false))
      into.volumes.push_back(each["Destination"].text());
  }
}

std::uint16_t port_number(std::string_view text) {
  std::uint16_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void read_port(const std::string& name, const json_array& bindings, std::vector<docker_port>& into) {
  if (!name.ends_with("/tcp")) return;
  for (const json& each : bindings) {
    docker_port one;
    one.container = port_number(name);
    one.host = port_number(each["HostPort"].text());
    one.address = each["HostIp"].text();
    into.push_back(std::move(one));
  }
}

}  // namespace

task<given_container> find_given_container(std::shared_ptr<docker_engine> engine, std::string name) {
  const std::string shown = shown_path(name);
  const container asked(engine, name);
  const std::optional<json> all = co_await asked.inspect();
  if (!all) throw error(make_error_code(errc::not_found), "container " + shown + " is not with the daemon");
  require_running((*all)["State"], shown);
  given_container found{container(engine, all->at("Id").as_string()), shown, {}, {}, false, {}, {}};
  found.cwd = (*all)["Config"]["WorkingDir"].text();
  if (found.cwd.empty()) found.cwd = "/";
  found.read_only_root = (*all)["HostConfig"]["ReadonlyRootfs"].if_bool().value_or(false);
  read_mounts(*all, found);
  const std::string image_id = (*all)["Image"].text();
  const std::optional<docker_image> image = co_await find_image(engine, image_id);
  if (image) found.architecture = image->architecture;
  co_return found;
}

task<std::vector<docker_port>> published_ports_of(container box) {
  const std::optional<json> all = co_await box.inspect();
  if (!all) throw error(make_error_code(errc::lost), "docker: the container was removed");
  std::vector<docker_port> found;
  const json_object* ports = (*all)["NetworkSettings"]["Ports"].if_object();
  if (ports != nullptr) {
    for (const auto& [name, bindings] : *ports) {
      if (const json_array* list = bindings.if_array()) read_port(name, *list, found);
    }
  }
  co_return found;
}

}  // namespace berth
