#include "docker/registry_login.hpp"

#include "berth/error.hpp"
#include "core/json.hpp"
#include "core/shown_path.hpp"
#include "core/text.hpp"

#include <string_view>
#include <utility>

namespace berth {
namespace {

constexpr std::string_view hub_server = "https://index.docker.io/v1/";

std::string server_of(const std::string& registry) {
  return registry == "docker.io" ? std::string(hub_server) : registry;
}

/// The host of "https://host/v1/", "host:5000/" and "host".
std::string_view host_of(std::string_view key) noexcept {
  if (const auto scheme = key.find("://"); scheme != key.npos) key.remove_prefix(scheme + 3);
  return key.substr(0, key.find('/'));
}

bool is_same_registry(std::string_view key, const std::string& server) noexcept {
  return key == server || host_of(key) == host_of(server);
}

/// The member that is called as the server, else one that means it.
std::pair<std::string, const json*> find_server(const json& all, const std::string& server) {
  const json_object* members = all.if_object();
  if (members == nullptr) return {};
  if (const json* exact = members->find(server)) return {server, exact};
  for (const auto& [key, value] : *members) {
    if (is_same_registry(key, server)) return {key, &value};
  }
  return {};
}

std::optional<registry_login> read_entry(const json& entry) {
  registry_login login;
  login.identity_token = entry["identitytoken"].text();
  login.user = entry["username"].text();
  login.password = entry["password"].text();
  if (const std::string both = entry["auth"].text(); !both.empty()) {
    const std::string pair = base64_decode(both);
    const auto colon = pair.find(':');
    if (colon == pair.npos) throw error(make_error_code(errc::protocol), "`auth` holds no user and password");
    login.user = pair.substr(0, colon);
    login.password = pair.substr(colon + 1, pair.find('\0', colon) - colon - 1);  // docker pads it with NULs
  }
  if (login == registry_login()) return std::nullopt;
  return login;
}

/// False: look on.
bool look_in(const std::string& text, const std::string& from, login_source& found) {
  try {
    const json config = json::parse(text);
    found.from = from;
    if (const auto [key, helper] = find_server(config["credHelpers"], found.server); helper != nullptr) {
      found.helper = helper->text();
    } else if (const std::string store = config["credsStore"].text(); !store.empty()) {
      found.helper = store;
    } else if (const auto [name, entry] = find_server(config["auths"], found.server); entry != nullptr) {
      found.login = read_entry(*entry);
      if (found.login) found.server = name;
    }
  } catch (const error& failure) {
    throw failure.within(from);
  }
  return found.login || !found.helper.empty();
}

}  // namespace

login_source find_registry_login(const std::string& registry, const docker_surroundings& here) {
  login_source found;
  found.server = server_of(registry);
  if (const auto text = here.variable("DOCKER_AUTH_CONFIG")) {
    if (look_in(*text, "DOCKER_AUTH_CONFIG", found)) return found;
  }
  const std::string path = here.config_directory() + "/config.json";
  if (const auto text = here.file(path)) look_in(*text, shown_path(path), found);
  return found;
}

std::string story_of(const login_source& source, const std::string& registry) {
  const std::string call = registry == "docker.io" ? "`docker login`" : "`docker login " + registry + "`";
  if (!source.login) return "no login for it is stored, and " + call + " stores one";
  const std::string helper = source.helper.empty() ? "" : " by docker-credential-" + source.helper;
  return "the login is from " + source.from + helper + ", and " + call + " stores another";
}

registry_login read_helper_answer(const std::string& text) {
  const json answer = json::parse(text);
  registry_login login;
  login.user = answer.at("Username").as_string();
  std::string secret = answer.at("Secret").as_string();
  if (login.user == "<token>") {
    login.user.clear();
    login.identity_token = std::move(secret);
  } else {
    login.password = std::move(secret);
  }
  return login;
}

bool says_not_found(const std::string& output) noexcept { return output.find("credentials not found") != output.npos; }

std::string registry_auth_header(const registry_login& login, const std::string& server) {
  json_object body;
  if (login.identity_token.empty()) {
    body.set("username", login.user);
    body.set("password", login.password);
  } else {
    body.set("identitytoken", login.identity_token);
  }
  body.set("serveraddress", server);
  std::string text = base64_encode(json(std::move(body)).dump());
  for (char& c : text) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  return text;
}

}  // namespace berth
