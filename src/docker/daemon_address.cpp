#include "docker/daemon_address.hpp"

#include "berth/error.hpp"
#include "core/json.hpp"
#include "core/shown_path.hpp"
#include "docker/sha256.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace berth {
namespace {

bool is_known_scheme(std::string_view url) noexcept {
  constexpr std::array<std::string_view, 5> schemes{"unix://", "tcp://", "http://", "https://", "ssh://"};
  for (const std::string_view each : schemes) {
    if (url.starts_with(each) && url.size() > each.size()) return true;
  }
  return false;
}

/// Docker takes a host without a scheme too: "host:2375" and a bare path.
std::string with_scheme(const std::string& host, const std::string& from) {
  if (host.starts_with('/')) return "unix://" + host;
  const std::string url = host.find("://") == host.npos ? "tcp://" + host : host;
  if (!is_known_scheme(url) || url.find_first_of(" \t\r\n") != url.npos)
    throw error(make_error_code(errc::invalid_argument),
                from + ": " + shown_path(host) + " is no address of a daemon (unix://, tcp://, https://, ssh://)");
  return url;
}

class daemon_search {
 public:
  daemon_search(const daemon_choice& choice, const docker_surroundings& here) : choice_(choice), here_(here) {}

  std::vector<daemon_address> run() const {
    if (!choice_.host.empty()) return one(by_host(choice_.host, "the host given"));
    if (!choice_.context.empty()) return by_context(choice_.context);
    if (const auto host = here_.variable("DOCKER_HOST")) return one(by_host(*host, "DOCKER_HOST"));
    if (const auto name = here_.variable("DOCKER_CONTEXT")) return by_context(*name);
    const std::string current = current_context();
    return current.empty() ? sockets() : by_context(current);
  }

 private:
  static std::vector<daemon_address> one(daemon_address address) { return {std::move(address)}; }

  daemon_address by_host(const std::string& host, const std::string& from) const {
    daemon_address found;
    found.url = with_scheme(host, from);
    found.from = from;
    const bool is_https = found.url.starts_with("https://");
    const bool verify = here_.variable("DOCKER_TLS_VERIFY").has_value();
    const bool unverified = !verify && here_.variable("DOCKER_TLS").has_value();
    if (is_https || (found.url.starts_with("tcp://") && (verify || unverified))) {
      const auto folder = here_.variable("DOCKER_CERT_PATH").value_or(here_.config_directory());
      found.tls = certificates(folder, unverified);
    }
    return found;
  }

  daemon_tls certificates(const std::string& folder, bool skip_verify) const {
    daemon_tls tls;
    tls.authority = here_.file(folder + "/ca.pem").value_or("");
    tls.certificate = here_.file(folder + "/cert.pem").value_or("");
    tls.key = here_.file(folder + "/key.pem").value_or("");
    tls.verify = !skip_verify;
    return tls;
  }

  std::string current_context() const {
    const std::string path = here_.config_directory() + "/config.json";
    const auto text = here_.file(path);
    if (!text) return {};
    const json config = parse(*text, path);
    const std::string* name = config["currentContext"].if_string();
    return name != nullptr && *name != "default" ? *name : std::string();
  }

  static json parse(const std::string& text, const std::string& path) {
    try {
      return json::parse(text);
    } catch (const error& failure) {
      throw failure.within(shown_path(path));
    }
  }

  std::vector<daemon_address> by_context(const std::string& name) const {
    if (name == "default") {
      const auto host = here_.variable("DOCKER_HOST");
      return host ? one(by_host(*host, "DOCKER_HOST")) : sockets();
    }
    const std::string shown = "docker context " + shown_path(name);
    const std::string folder = here_.config_directory() + "/contexts";
    const std::string path = folder + "/meta/" + sha256_hex(name) + "/meta.json";
    const auto text = here_.file(path);
    if (!text)
      throw error(make_error_code(errc::not_found), shown + " (`docker context ls` lists those that there are)");
    const json meta = parse(*text, path);
    const json& endpoint = meta["Endpoints"]["docker"];
    const std::string* host = endpoint["Host"].if_string();
    if (host == nullptr || host->empty())
      throw error(make_error_code(errc::protocol), shown + ": " + shown_path(path) + " names no host");
    daemon_address found;
    found.url = with_scheme(*host, shown);
    found.from = shown;
    daemon_tls tls = certificates(folder + "/tls/" + sha256_hex(name) + "/docker",
                                  endpoint["SkipTLSVerify"].if_bool().value_or(false));
    if (!tls.authority.empty() || !tls.certificate.empty() || !tls.verify) found.tls = std::move(tls);
    return one(std::move(found));
  }

  std::vector<std::string> usual_places() const {
    std::vector<std::string> all{"/var/run/docker.sock"};
    const auto runtime = here_.variable("XDG_RUNTIME_DIR");
    if (runtime) all.push_back(*runtime + "/docker.sock");
    if (!here_.home.empty()) {
      all.push_back(here_.home + "/.docker/run/docker.sock");
      all.push_back(here_.home + "/.docker/desktop/docker.sock");
    }
    const std::string of_user = "/run/user/" + std::to_string(here_.user);
    if (runtime != of_user) all.push_back(of_user + "/docker.sock");
    if (here_.user == 0) all.emplace_back("/run/podman/podman.sock");
    if (runtime) all.push_back(*runtime + "/podman/podman.sock");
    if (runtime != of_user) all.push_back(of_user + "/podman/podman.sock");
    return all;
  }

  std::vector<daemon_address> sockets() const {
    std::vector<daemon_address> found;
    std::string looked_for;
    for (const std::string& path : usual_places()) {
      looked_for += (looked_for.empty() ? "" : ", ") + path;
      if (here_.has_socket(path)) found.push_back({"unix://" + path, "the usual place", std::nullopt});
    }
    if (found.empty())
      throw error(make_error_code(errc::unavailable),
                  "no Docker daemon: there is none of the sockets " + looked_for + ", and DOCKER_HOST is not set");
    return found;
  }

  const daemon_choice& choice_;
  const docker_surroundings& here_;
};

}  // namespace

std::vector<daemon_address> find_daemons(const daemon_choice& choice, const docker_surroundings& here) {
  return daemon_search(choice, here).run();
}

}  // namespace berth
