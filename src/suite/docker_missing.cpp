/// In place of docker_suite.cpp where OpenSSL is missing.
#include "suite/docker_site.hpp"

namespace berth::suite {

std::vector<bench::subject> docker_suite(asio::io_context&, shared_site) { return {}; }

bool needs_docker(const bench::subject&) { return false; }

task<std::string> why_no_docker(asio::io_context&, shared_site) {
  co_return "this build of berth has no containers, since it was made without OpenSSL 3";
}

}  // namespace berth::suite
