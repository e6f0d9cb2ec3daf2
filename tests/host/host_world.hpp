#pragma once
/// What the tests of the context on this host share.

#include "host/process_backend.hpp"
#include "support/async.hpp"
#include "support/proc_scan.hpp"
#include "support/running.hpp"
#include "support/skipping.hpp"
#include "support/waiting.hpp"

#include <asio/io_context.hpp>

#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

namespace berth::test {

using namespace std::chrono_literals;

inline context make_host(asio::io_context& io, resident_transport transport = resident_transport::handed) {
  return context(io.get_executor(), make_process_backend(io.get_executor(), process_context_options(), transport));
}

inline process_context_options isolated(const std::string& cwd, isolation_settings settings = {}) {
  process_context_options options;
  options.cwd = cwd;
  options.isolation = std::move(settings);
  return options;
}

/// Children of this process that live: the residents.
inline std::vector<pid_t> residents() {
  std::vector<pid_t> all;
  for (const process_info& each : all_processes()) {
    if (each.parent == ::getpid() && !each.dead()) all.push_back(each.pid);
  }
  return all;
}

}  // namespace berth::test
