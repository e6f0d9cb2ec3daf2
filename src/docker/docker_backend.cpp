#include "docker/docker_backend.hpp"

#include "berth/error.hpp"
#include "context/resident_capabilities.hpp"
#include "core/blocking.hpp"
#include "core/logger.hpp"
#include "core/paths.hpp"
#include "core/shown_path.hpp"
#include "docker/container_launch.hpp"
#include "docker/credential_helper.hpp"
#include "docker/docker_place.hpp"
#include "docker/engine_paths.hpp"
#include "docker/engine_place.hpp"
#include "docker/given_place.hpp"
#include "docker/image_reference.hpp"
#include "docker/kept_container.hpp"
#include "docker/registry_login.hpp"
#include "docker/socket_offer.hpp"
#include "docker/surroundings.hpp"

#include <asio/io_context.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace berth {
namespace {

bool is_mounted(const std::string& path, const std::vector<docker_mount>& mounts) {
  const auto holds = [&path](const docker_mount& each) { return is_at_or_below(path, plain_path(each.target)); };
  return std::any_of(mounts.begin(), mounts.end(), holds);
}

/// "linux/arm64", with or without a variant behind; empty: any.
bool is_for(const docker_image& image, const std::string& platform) {
  const std::string own = image.os + "/" + image.architecture;
  return platform.empty() || platform == own || platform.starts_with(own + "/");
}

class containers_backend final : public docker_backend {
 public:
  containers_backend(asio::any_io_executor executor, docker_context_options options, bool try_socket)
      : shared_(std::make_shared<shared>(std::move(executor), std::move(options), try_socket)) {}

  std::string_view type() const noexcept override { return "docker"; }

  /// Where no resident lives is seen only once a place was tried.
  capabilities can() const noexcept override {
    if (shared_->engine_runs) return engine_capabilities();
    capabilities all = resident_capabilities();
    all.survives_disconnect = shared_->options.container.empty();
    return all;
  }

  task<spawned_place> spawn(std::string id, spawn_options options) override {
    return spawn_in(shared_, std::move(id), std::move(options));
  }

  task<std::vector<docker_port>> published_ports(std::string id) override {
    return published_ports_of(shared_->find(id).box);
  }

  std::string container_id(const std::string& id) const override { return shared_->find(id).box.id(); }

 private:
  struct known_place {
    std::weak_ptr<backend_place> place;
    container box;
  };

  struct shared {
    shared(asio::any_io_executor e, docker_context_options o, bool s)
        : executor(std::move(e)), options(std::move(o)), log(options.log), try_socket(s) {}

    asio::any_io_executor executor;
    docker_context_options options;
    logger log;
    bool try_socket;
    bool swept = false;  ///< what killed owners left
    const known_place& find(const std::string& id) const {
      const auto found = places.find(id);
      if (found == places.end() || found->second.place.expired())
        throw error(make_error_code(errc::destroyed), "handle '" + id + "' was destroyed, or is not of this context");
      return found->second;
    }

    void remember(const std::string& id, const std::shared_ptr<backend_place>& place, container box) {
      std::erase_if(places, [](const auto& each) { return each.second.place.expired(); });
      places.insert_or_assign(id, known_place{place, std::move(box)});
    }

    bool engine_runs = options.runner == docker_runner::engine;
    std::map<std::string, known_place> places = {};
    std::shared_ptr<blocking_pool> pool = std::make_shared<blocking_pool>();
  };

  /// What the file system and the environment say, asked anew for each place.
  struct findings {
    std::vector<daemon_address> daemons;
    std::string version;
    owner_identity owner;
  };

  static task<findings> look_around(std::shared_ptr<shared> self) {
    const bool sweeps = !std::exchange(self->swept, true);
    auto look = [host = self->options.host, context = self->options.docker_context, sweeps] {
      const docker_surroundings here = real_docker_surroundings();
      findings found;
      found.daemons = find_daemons({host, context}, here);
      found.version = here.variable("DOCKER_API_VERSION").value_or("");
      found.owner = this_owner();
      if (sweeps) remove_stale_offers();
      return found;
    };
    return self->pool->run(std::move(look));
  }

  struct pull_login {
    std::string header = {};
    std::string story = {};  ///< for one that is refused
  };

  static task<pull_login> find_login(std::shared_ptr<shared> self, std::string image) {
    const std::string registry = parse_image_reference(image).registry;
    auto look = [registry] { return find_registry_login(registry, real_docker_surroundings()); };
    auto looking = self->pool->run(std::move(look));
    login_source source = co_await std::move(looking);
    if (!source.helper.empty()) {
      const char* path = std::getenv("PATH");
      const std::string program = find_credential_helper(source.helper, path != nullptr ? path : "");
      if (program.empty()) {
        self->log.warning("docker: " + source.from + " names the helper docker-credential-" + source.helper +
                          ", which is not in PATH; the image is pulled without a login");
      } else {
        auto asking = ask_credential_helper(program, source.server);
        source.login = co_await std::move(asking);
      }
    }
    pull_login found;
    if (source.login) found.header = registry_auth_header(*source.login, source.server);
    found.story = story_of(source, registry);
    co_return found;
  }

  static task<void> pull(std::shared_ptr<shared> self, std::shared_ptr<docker_engine> engine) {
    pull_request what;
    what.image = self->options.image;
    what.platform = self->options.platform;
    what.on_progress = self->options.on_pull;
    auto finding = find_login(self, what.image);
    const pull_login login = co_await std::move(finding);
    what.auth = login.header;
    auto pulling = pull_image(std::move(engine), std::move(what));
    try {
      co_await std::move(pulling);
    } catch (const error& failure) {
      if (failure.code() != errc::unauthorized) throw;
      throw error(failure.code(), failure.message() + "; " + login.story, failure.remote());
    }
  }

  static task<docker_image> have_image(std::shared_ptr<shared> self, std::shared_ptr<docker_engine> engine) {
    const docker_context_options& wanted = self->options;
    std::optional<docker_image> image;
    if (wanted.pull != pull_policy::always) image = co_await find_image(engine, wanted.image);
    if (image && wanted.pull == pull_policy::missing && !is_for(*image, wanted.platform)) image.reset();
    if (!image && wanted.pull != pull_policy::never && !is_image_id(wanted.image)) {
      co_await pull(self, engine);
      image = co_await find_image(engine, wanted.image);
    }
    if (!image)
      throw error(make_error_code(errc::not_found),
                  "image " + shown_path(wanted.image) + " is not with the daemon" +
                      (wanted.pull == pull_policy::never ? ", and pull is `never`" : "") +
                      (is_image_id(wanted.image) ? ", and an id cannot be pulled" : ""));
    co_return *image;
  }

  /// Why no resident can be the first process of a container of this image; empty: one can.
  static std::string misfit(const docker_image& image) {
    const std::string ours = architecture_of_resident();
    if (image.os == "linux" && image.architecture == ours) return {};
    return "it is for " + image.os + "/" + image.architecture + ", and the resident for linux/" + ours;
  }

  static task<spawned_place> spawn_in(std::shared_ptr<shared> self, std::string id, spawn_options options) {
    docker_context_options wanted = self->options;
    if (!options.cwd().empty()) wanted.cwd = options.cwd();
    for (const auto& each : options.env()) wanted.env.push_back(each);
    check_docker_options(wanted);
    const findings found = co_await look_around(self);
    auto connecting = docker_engine::connect(self->executor, found.daemons, found.version);
    const std::shared_ptr<docker_engine> engine = co_await std::move(connecting);
    auto spawning = wanted.container.empty()
                        ? spawn_own(self, std::move(id), engine, std::move(wanted), labels_of(found.owner))
                        : spawn_given(self, std::move(id), engine, std::move(wanted));
    co_return co_await std::move(spawning);
  }

  static task<spawned_place> spawn_own(std::shared_ptr<shared> self, std::string id,
                                       std::shared_ptr<docker_engine> engine, docker_context_options wanted,
                                       docker_labels labels) {
    const docker_image image = co_await have_image(self, engine);
    const bool gives_directory = wanted.cwd.empty() && !is_mounted(default_docker_cwd, wanted.mounts);
    if (wanted.cwd.empty()) wanted.cwd = default_docker_cwd;
    const std::string why_not = misfit(image);
    if (image.os != "linux" || (!why_not.empty() && wanted.runner == docker_runner::resident))
      throw error(make_error_code(errc::unsupported), "image " + shown_path(wanted.image) + ": " + why_not);
    if (!why_not.empty() || wanted.runner == docker_runner::engine)
      co_return co_await spawn_kept(self, std::move(id), std::move(engine), std::move(wanted), std::move(labels),
                                    why_not);
    container_launch_options launch;
    launch.log = self->log;
    launch.try_socket = self->try_socket;
    if (gives_directory) launch.directory_user = wanted.user.empty() ? image.user : wanted.user;
    launch.labels = std::move(labels);
    spawned_place done;
    done.cwd = wanted.cwd;
    launch.context = std::move(wanted);
    auto launching = launch_container(self->executor, std::move(engine), std::move(launch));
    auto launched = co_await std::move(launching);
    // The daemon is elsewhere, and will be: no other spawn waits for that.
    if (launched->offer && launched->transport == resident_transport::framed) self->try_socket = false;
    const container box = launched->box;
    done.place = std::make_shared<docker_place>(self->executor, std::move(launched), self->log);
    self->remember(id, done.place, box);
    co_return done;
  }

  /// In an emulator, or because it was asked for.
  static task<spawned_place> spawn_kept(std::shared_ptr<shared> self, std::string id,
                                        std::shared_ptr<docker_engine> engine, docker_context_options wanted,
                                        docker_labels labels, std::string why_not) {
    auto launching = launch_kept(std::move(engine), wanted, std::move(labels));
    std::shared_ptr<kept_container> kept;
    try {
      kept = co_await std::move(launching);
    } catch (const error& failure) {
      if (why_not.empty() || failure.code() != errc::unsupported) throw;
      throw failure.within("no resident can run there (" + why_not + ")");
    }
    if (!why_not.empty())
      self->log.warning(engine_warning("a container of image " + shown_path(wanted.image), why_not));
    self->engine_runs = true;
    auto finding = find_container_user(kept->box, wanted.user);
    const container_user owner = co_await std::move(finding);
    engine_files_place files{kept->box, wanted.user, owner, {}};
    for (const docker_mount& each : wanted.mounts) {
      if (each.kind == mount_kind::tmpfs) files.memory_directories.push_back(each.target);
    }
    spawned_place done;
    done.cwd = wanted.cwd;
    std::vector<std::string> env;  // the container has it
    done.place = std::make_shared<engine_place>(self->executor, std::move(files), std::move(env), kept->keeper);
    self->remember(id, done.place, kept->box);
    co_return done;
  }

  static task<spawned_place> spawn_given(std::shared_ptr<shared> self, std::string id,
                                         std::shared_ptr<docker_engine> engine, docker_context_options wanted) {
    auto finding = find_given_container(std::move(engine), wanted.container);
    const given_container place = co_await std::move(finding);
    auto spawning = spawn_in_given(self->executor, place, std::move(wanted), self->log);
    place_in_container done = co_await std::move(spawning);
    self->engine_runs = self->engine_runs || done.runner == docker_runner::engine;
    self->remember(id, done.spawned.place, place.box);
    co_return std::move(done.spawned);
  }

  std::shared_ptr<shared> shared_;
};

}  // namespace

std::shared_ptr<docker_backend> make_docker_backend(asio::any_io_executor executor, docker_context_options options,
                                                    bool try_socket) {
  check_docker_options(options);
  return std::make_shared<containers_backend>(std::move(executor), std::move(options), try_socket);
}

docker_context::docker_context(asio::any_io_executor executor, std::shared_ptr<docker_backend> backend)
    : context(std::move(executor), backend), backend_(std::move(backend)) {}

task<std::vector<docker_port>> docker_context::published_ports(handle place) & {
  return backend_->published_ports(place.id());
}

std::string docker_context::container_id(const handle& place) const { return backend_->container_id(place.id()); }

docker_context make_docker_context(asio::io_context& io, docker_context_options options) {
  return {io.get_executor(), make_docker_backend(io.get_executor(), std::move(options))};
}

}  // namespace berth
