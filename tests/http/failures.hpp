#pragma once
/// What a request ended with, as text that is easily compared.

#include <berth/task.hpp>

#include "http/client.hpp"
#include "http/http_error.hpp"

#include <memory>
#include <string>
#include <utility>

namespace berth::test {

/// Of a client that knows no proxy.
inline http::client_options direct_options() {
  http::client_options options;
  options.proxies = http::proxy_rules();
  return options;
}

/// The last error, for a closer look.
struct failure {
  std::string brief = {};  ///< "phase maybe|never: code", or "status body"
  std::string message = {};
  std::string remote = {};
};

inline failure described(const http::http_error& failed) {
  failure seen;
  seen.brief = std::string(to_string(failed.at())) + (failed.may_have_arrived() ? " maybe: " : " never: ") +
               failed.code().message();
  seen.message = failed.message();
  seen.remote = failed.remote();
  return seen;
}

/// Sends, and tells how it ended.
inline task<failure> outcome(http::client& by, http::request what) {
  failure seen;
  try {
    const http::response got = co_await by.send(std::move(what));
    seen.brief = std::to_string(got.status()) + ' ' + got.body();
  } catch (const http::http_error& failed) {
    seen = described(failed);
  } catch (const std::system_error& failed) {
    seen.brief = failed.code().message();
    seen.message = failed.what();
  }
  co_return seen;
}

}  // namespace berth::test
