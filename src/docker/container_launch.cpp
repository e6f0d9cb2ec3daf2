#include "docker/container_launch.hpp"

#include "berth/error.hpp"
#include "context/resident_image.hpp"
#include "core/deadline.hpp"
#include "docker/attached_channel.hpp"
#include "docker/container_end.hpp"
#include "docker/container_user.hpp"

#include <exception>
#include <optional>
#include <utility>

namespace berth {
namespace {

constexpr const char* resident_directory = "/.berth";
constexpr const char* resident_in_container = "/.berth/resident";
constexpr const char* socket_in_container = "/.berth-socket";
constexpr std::chrono::milliseconds socket_takes{2000};
constexpr std::chrono::seconds removal_takes{30};

/// One launch, step by step.
class container_launch {
 public:
  container_launch(asio::any_io_executor executor, std::shared_ptr<docker_engine> engine,
                   container_launch_options options)
      : executor_(std::move(executor)), engine_(std::move(engine)), options_(std::move(options)) {}

  static task<std::shared_ptr<launched_container>> run(std::shared_ptr<container_launch> self) {
    co_await choose_removal(self);
    co_await create(self);
    std::exception_ptr failure;
    try {
      co_await begin(self);
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) {
      co_await hold_cancellation();
      co_await clean_up(self->made_->box);
      std::rethrow_exception(failure);
    }
    co_return self->made_;
  }

 private:
  /// Of a coroutine that holds its cancellation.
  static task<void> clean_up(container box) {
    try {
      co_await shielded(removal_takes, box.remove());
    } catch (const std::system_error&) {  // the first failure says more
    }
  }

  json spec() const {
    container_fittings fittings;
    fittings.entrypoint = {resident_in_container, "place", socket_in_container};
    fittings.volume = resident_directory;
    fittings.labels = options_.labels;
    fittings.stdin_open = true;
    fittings.auto_remove = auto_remove_;
    if (offer_) {
      fittings.socket_directory = offer_->path();
      fittings.socket_target = socket_in_container;
    }
    return container_spec(options_.context, fittings);
  }

  /// Docker before 25.0 kills what it should remove later when it is started again, though live-restore had kept that alive.
  static task<void> choose_removal(std::shared_ptr<container_launch> self) {
    constexpr api_version mended{1, 44};
    if (self->engine_->is_podman() || self->engine_->version() >= mended) co_return;
    const json info = co_await self->engine_->ask("GET", "/info");
    self->auto_remove_ = !info["LiveRestoreEnabled"].if_bool().value_or(false);
  }

  /// Where none can be (the temporary directory has a long name, or is full) frames do as well.
  void make_offer() {
    if (!options_.try_socket || !engine_->address().url.starts_with("unix://")) return;
    try {
      offer_ = std::make_unique<socket_offer>(executor_);
    } catch (const std::system_error& failure) {
      options_.log.info(std::string("docker: no socket for the container: ") + failure.what());
    }
  }

  /// A daemon that is not on this host does not find the socket there.
  static task<void> create(std::shared_ptr<container_launch> self) {
    self->make_offer();
    const docker_context_options& wanted = self->options_.context;
    std::optional<container> box;
    try {
      auto making = container::create(self->engine_, self->spec(), wanted.name, wanted.platform);
      box = co_await std::move(making);
    } catch (const error& failure) {
      if (!self->offer_ || failure.code() != errc::invalid_argument) throw;
    }
    if (!box) {
      self->offer_.reset();
      auto making = container::create(self->engine_, self->spec(), wanted.name, wanted.platform);
      box = co_await std::move(making);
    }
    self->made_ = std::make_shared<launched_container>(launched_container{std::move(*box), nullptr});
    self->made_->offer = std::move(self->offer_);
  }

  /// The daemon makes it root's. A root file system that cannot be written keeps it so.
  static task<void> give_directory(std::shared_ptr<container_launch> self) {
    tar_entry directory;
    directory.path = self->options_.context.cwd.substr(1);
    directory.mode = 0755;
    directory.is_directory = true;
    try {
      auto finding = find_container_user(self->made_->box, self->options_.directory_user);
      const container_user owner = co_await std::move(finding);
      directory.user = owner.user;
      directory.group = owner.group;
      std::vector<tar_entry> entries;
      entries.push_back(std::move(directory));
      co_await self->made_->box.upload("/", tar_of(entries));
    } catch (const error& failure) {
      if (is_cancelled(failure.code())) throw;
      self->options_.log.info(std::string("docker: the working directory stays root's: ") + failure.what());
    }
  }

  static task<void> begin(std::shared_ptr<container_launch> self) {
    const container& box = self->made_->box;
    if (!self->options_.directory_user.empty()) co_await give_directory(self);
    co_await box.upload(resident_directory, tar_of_file("resident", std::string(resident_bytes()), 0755));
    co_await box.start();
    if (self->made_->offer) {
      unique_fd socket = co_await self->made_->offer->wait(socket_takes);
      if (socket) {
        self->made_->transport = resident_transport::handed;
        self->made_->link = self->make_link(false);
        auto attaching = self->made_->link->attach(make_socket_channel(self->executor_, std::move(socket)));
        co_return co_await std::move(attaching);
      }
      self->options_.log.info("docker: no socket comes through to the container, so its output travels in frames");
    }
    self->made_->link = self->make_link(true);
    co_await attach_resident(self->executor_, self->made_, self->options_.log);
  }

  std::shared_ptr<resident_link> make_link(bool leased) const {
    resident_link_options link;
    link.log = options_.log;
    link.hello_timeout = std::chrono::seconds(30);
    if (leased) link.lease = options_.context.lease;
    link.explain = [box = made_->box] { return explain_end(box); };
    return std::make_shared<resident_link>(executor_, std::move(link));
  }

  asio::any_io_executor executor_;
  std::shared_ptr<docker_engine> engine_;
  container_launch_options options_;
  std::unique_ptr<socket_offer> offer_;  ///< until the container is made
  bool auto_remove_ = true;
  std::shared_ptr<launched_container> made_;
};

}  // namespace

task<void> attach_resident(asio::any_io_executor executor, std::shared_ptr<launched_container> launched, logger log) {
  http::stream_ptr stream = co_await launched->box.attach();
  auto channel = make_attached_channel(std::move(executor), std::move(stream), std::move(log));
  co_await launched->link->attach(std::move(channel));
}

task<std::shared_ptr<launched_container>> launch_container(asio::any_io_executor executor,
                                                           std::shared_ptr<docker_engine> engine,
                                                           container_launch_options options) {
  return container_launch::run(
      std::make_shared<container_launch>(std::move(executor), std::move(engine), std::move(options)));
}

}  // namespace berth
