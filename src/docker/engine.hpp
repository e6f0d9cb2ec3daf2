#pragma once
/// The Engine API of one daemon, Docker's or Podman's.

#include "berth/task.hpp"
#include "core/json.hpp"
#include "docker/daemon_address.hpp"
#include "docker/ssh_dial.hpp"
#include "http/client.hpp"

#include <asio/any_io_executor.hpp>

#include <compare>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// Of the API: "1.41".
struct api_version {
  int major_number = 0;
  int minor_number = 0;

  auto operator<=>(const api_version&) const = default;
  std::string text() const { return std::to_string(major_number) + "." + std::to_string(minor_number); }
};

/// Errors: protocol.
api_version parse_api_version(std::string_view text);

/// What a daemon answered.
class engine_reply {
 public:
  engine_reply(int status, json body) : status_(status), body_(std::move(body)) {}
  int status() const noexcept { return status_; }
  /// 304: it is so already. What leads elsewhere is none: nobody goes there.
  bool is_success() const noexcept { return status_ < 300 || status_ == 304; }
  /// Null where there was none; of a failure that was no JSON {"message": text}.
  const json& body() const noexcept { return body_; }
  /// What a failure says.
  std::string message() const;

 private:
  int status_;
  json body_;
};

/// One daemon that has answered. Connections are kept and used again.
///
/// Paths are as the API has them, without the version: "/containers/json?all=1".
/// Errors of all calls: http_error for the connection; for a status of 400 or more what `engine_failure` makes of it.
class docker_engine {
 public:
  static constexpr api_version oldest{1, 41};  ///< Docker 20.10
  static constexpr api_version newest{1, 47};  ///< that this code was written for

  /// The first of the daemons that answers. The version is the newest that both know, or `pinned` ("1.43").
  /// Errors: unavailable in one line with all that were tried, and why not; unsupported for one that is too old.
  static task<std::shared_ptr<docker_engine>> connect(asio::any_io_executor executor,
                                                      std::vector<daemon_address> candidates, std::string pinned = {});

  const api_version& version() const noexcept { return version_; }
  bool is_podman() const noexcept { return is_podman_; }
  const daemon_address& address() const noexcept { return address_; }

  /// A success' document, null for none.
  task<json> ask(std::string method, std::string path, json body = nullptr);
  /// Whatever the status.
  task<engine_reply> try_ask(std::string method, std::string path, json body = nullptr);
  /// For what goes on: a success' body is read by the caller.
  task<std::unique_ptr<http::response_stream>> open(http::request what);
  /// A connection of its own in both directions.
  task<http::stream_ptr> hijack(std::string path, json body = nullptr);
  /// To be filled in and given to `open`.
  http::request make_request(std::string method, const std::string& path) const;

  docker_engine(asio::any_io_executor executor, daemon_address address);

 private:
  static task<void> greet(std::shared_ptr<docker_engine> self, std::string pinned);
  static task<engine_reply> send(std::shared_ptr<http::client> client, http::request what);
  static task<json> send_and_check(std::shared_ptr<http::client> client, http::request what, std::string shown);
  static task<std::unique_ptr<http::response_stream>> open_with(std::shared_ptr<http::client> client,
                                                                http::request what);
  static task<http::stream_ptr> hijack_with(std::shared_ptr<http::client> client, http::request what,
                                            std::string shown);

  daemon_address address_;
  std::shared_ptr<ssh_voice> ssh_ = std::make_shared<ssh_voice>();
  std::string base_;
  api_version version_ = oldest;
  bool is_podman_ = false;
  std::shared_ptr<http::client> client_;
};

/// A refusal as an error: invalid_argument (400), unauthorized (401), permission_denied (403), not_found (404), conflict (409),
/// rate_limited (429), unavailable (500 and above), protocol for others; the daemon's text is in `remote()` and, cut, in the message.
error engine_failure(const std::string& what, int status, const std::string& text);

}  // namespace berth
