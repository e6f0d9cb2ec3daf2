#include "berth/docker_context.hpp"
#include "berth/error.hpp"

namespace berth {

context make_docker_context(asio::io_context&, docker_context_options) {
  throw error(
      make_error_code(errc::unsupported),
      "docker: this build of berth has no containers, since it was made without OpenSSL 3 (meson option docker)");
}

}  // namespace berth
