#pragma once
/// The inside of a tls_context. Included by the files about TLS alone.

#include "http/openssl.hpp"
#include "http/tls.hpp"

namespace berth::http {

struct tls_context::state {
  ssl_context_ptr context;
  bool verify = true;
  std::string server_name;
};

}  // namespace berth::http
