#pragma once
/// A daemon behind ssh, as the docker command reaches it.

#include "http/client.hpp"
#include "http/url.hpp"
#include "os/unique_fd.hpp"

#include <asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace berth {

/// What is run for ssh://user@host:port/socket: `docker system dial-stdio` there, which joins its streams with the daemon's socket.
/// Errors: invalid_argument for a host or user that ssh could take for an option.
std::vector<std::string> ssh_words(const http::url& where);

/// What the latest ssh said on its standard error: why there is no connection. Of one that says too much the rest is lost.
class ssh_voice {
 public:
  /// The standard error of the next one.
  unique_fd begin();
  /// As one line; empty where nothing was said.
  std::string words();

 private:
  unique_fd heard_;
};

/// Each connection is an ssh of its own, found in PATH; it ends with the connection.
/// Errors of a dial: not_found where there is no ssh.
http::dialer ssh_dialer(asio::any_io_executor executor, const http::url& where, std::shared_ptr<ssh_voice> voice);

}  // namespace berth
