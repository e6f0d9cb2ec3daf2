#include "berth/docker_context.hpp"
#include "berth/error.hpp"

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

}  // namespace berth
