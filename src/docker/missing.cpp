#include "berth/docker_context.hpp"
#include "berth/docker_reap.hpp"
#include "berth/error.hpp"
#include "docker/daemon_report.hpp"

namespace berth {
namespace {

[[noreturn]] void refuse_docker() {
  throw error(
      make_error_code(errc::unsupported),
      "docker: this build of berth has no containers, since it was made without OpenSSL 3 (meson option docker)");
}

}  // namespace

context make_docker_context(asio::io_context&, docker_context_options) { refuse_docker(); }

task<std::vector<found_container>> reap_containers(asio::any_io_executor, reap_options) {
  refuse_docker();
  co_return std::vector<found_container>();
}

task<daemon_report> examine_daemon(asio::any_io_executor, std::string, std::string) {
  refuse_docker();
  co_return daemon_report();
}

}  // namespace berth
