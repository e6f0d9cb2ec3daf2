#include "berth/docker_context.hpp"
#include "berth/docker_reap.hpp"
#include "berth/error.hpp"
#include "docker/daemon_report.hpp"

namespace berth {
namespace {

[[noreturn]] void refuse() {
  throw error(
      make_error_code(errc::unsupported),
      "docker: this build of berth has no containers, since it was made without OpenSSL 3 (meson option docker)");
}

}  // namespace

docker_context::docker_context(asio::any_io_executor executor, std::shared_ptr<docker_backend>)
    : context(std::move(executor), nullptr) {
  refuse();
}

task<std::vector<docker_port>> docker_context::published_ports(handle) & { refuse(); }

std::string docker_context::container_id(const handle&) const { refuse(); }

docker_context make_docker_context(asio::io_context&, docker_context_options) { refuse(); }

task<std::vector<found_container>> reap_containers(asio::any_io_executor, reap_options) { refuse(); }

task<daemon_report> examine_daemon(asio::any_io_executor, std::string, std::string) { refuse(); }

}  // namespace berth
