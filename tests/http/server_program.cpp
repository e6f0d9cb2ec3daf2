#include "http/server_program.hpp"

#include "support/skipping.hpp"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <utility>

namespace berth::test {
namespace {

helper_process start_with_ports(const std::string& path, std::vector<std::string> argv,
                                std::vector<std::string> more_env, const std::vector<const listening_port*>& ports) {
  helper_options options;
  options.argv = std::move(argv);
  options.env.emplace();
  for (char** each = environ; *each != nullptr; ++each) options.env->emplace_back(*each);
  for (auto& each : more_env) options.env->push_back(std::move(each));
  int at = 3;
  for (const auto* each : ports) options.fds.push_back(placed_fd{each->fd(), at++});
  return helper_process::start(path, options);
}

}  // namespace

std::string program_or_skip(const char* name) {
  for (const char* folder : {"/usr/sbin/", "/usr/bin/", "/usr/local/bin/", "/usr/local/sbin/"}) {
    const std::string path = std::string(folder) + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  skip(std::string("no ") + name + " here");
  return {};
}

listening_port::listening_port() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(fd_, 64) == 0);
  REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
}

listening_port::~listening_port() { ::close(fd_); }

server_program::server_program(const std::string& path, std::vector<std::string> argv,
                               std::vector<std::string> more_env, const std::vector<const listening_port*>& ports)
    : child_(start_with_ports(path, std::move(argv), std::move(more_env), ports)) {}

server_program::~server_program() {
  child_.kill(SIGTERM);  // nginx ends its worker
  CHECK(child_.wait_blocking(std::chrono::seconds(10)));
}

std::unique_ptr<server_program> start_nginx(const std::string& path, const temp_dir& dir, std::string_view servers,
                                            const std::vector<const listening_port*>& ports) {
  std::string config =
      "daemon off;\nworker_processes 1;\npid nginx.pid;\nerror_log error.log;\nevents {}\nhttp {\naccess_log off;\n";
  if (::geteuid() == 0) config.insert(0, "user root;\n");  // the files are in a private directory
  for (const char* each : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
    config += std::string(each) + "_temp_path " + (dir / each) + ";\n";
  write_whole_file(dir / "nginx.conf", config + std::string(servers) + "}\n");
  std::string inherited = "NGINX=";
  for (std::size_t i = 0; i < ports.size(); ++i) inherited += std::to_string(3 + i) + ";";
  std::vector<std::string> argv = {"nginx", "-p", dir.path().string(), "-e", "error.log", "-c", "nginx.conf"};
  return std::make_unique<server_program>(path, std::move(argv), std::vector<std::string>{inherited}, ports);
}

std::unique_ptr<server_program> start_node(const std::string& path, const temp_dir& dir, std::string_view script,
                                           const listening_port& port) {
  write_whole_file(dir / "server.cjs", script);
  std::vector<std::string> argv = {"node", dir / "server.cjs"};
  return std::make_unique<server_program>(path, std::move(argv), std::vector<std::string>(),
                                          std::vector<const listening_port*>{&port});
}

}  // namespace berth::test
