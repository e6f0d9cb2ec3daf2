#pragma once
/// Real servers, started for a test on loopback.

#include "os/helper_process.hpp"
#include "support/temp_dir.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace berth::test {

/// The path of a program, or an empty string, and the current case counts as skipped.
std::string program_or_skip(const char* name);

/// A socket that listens on a free port of 127.0.0.1; the server inherits it, so a client may connect before it runs.
class listening_port {
 public:
  listening_port();
  ~listening_port();
  listening_port(const listening_port&) = delete;
  listening_port& operator=(const listening_port&) = delete;

  int fd() const noexcept { return fd_; }
  std::uint16_t number() const noexcept { return port_; }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

/// A program with files of its own. It is ended and reaped at the end.
class server_program {
 public:
  server_program(const std::string& path, std::vector<std::string> argv, std::vector<std::string> more_env,
                 const std::vector<const listening_port*>& ports);
  ~server_program();
  server_program(const server_program&) = delete;
  server_program& operator=(const server_program&) = delete;

 private:
  helper_process child_;
};

/// nginx with these server blocks; `ports` become its listening sockets. The directory holds its files.
std::unique_ptr<server_program> start_nginx(const std::string& path, const temp_dir& dir, std::string_view servers,
                                            const std::vector<const listening_port*>& ports);

/// Node with a script, which listens on descriptor 3.
std::unique_ptr<server_program> start_node(const std::string& path, const temp_dir& dir, std::string_view script,
                                           const listening_port& port);

}  // namespace berth::test
