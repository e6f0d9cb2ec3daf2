/// Contexts on this host.
#include "contract/places.hpp"
#include "contract/resident_files_backend.hpp"

#include <berth/process_context.hpp>

#include "host/process_backend.hpp"

#include <asio/io_context.hpp>

namespace berth::contract {
namespace {

process_context_options settings(std::string cwd) {
  process_context_options options;
  options.cwd = std::move(cwd);
  options.env.emplace_back("BERTH_CONTRACT", "set by the context");
  options.unset_env.emplace_back("BERTH_CONTRACT_UNWANTED");
  return options;
}

context make_host(asio::io_context& io, std::string cwd) { return make_process_context(io, settings(std::move(cwd))); }

context make_framed(asio::io_context& io, std::string cwd) {
  return {io.get_executor(),
          make_process_backend(io.get_executor(), settings(std::move(cwd)), resident_transport::framed)};
}

context with_resident_files(asio::io_context& io, std::string cwd, resident_transport transport) {
  return {io.get_executor(), std::make_shared<resident_files_backend>(
                                 make_process_backend(io.get_executor(), settings(std::move(cwd)), transport))};
}

context make_resident_files(asio::io_context& io, std::string cwd) {
  return with_resident_files(io, std::move(cwd), resident_transport::handed);
}

context make_framed_resident_files(asio::io_context& io, std::string cwd) {
  return with_resident_files(io, std::move(cwd), resident_transport::framed);
}

context isolated(asio::io_context& io, std::string cwd, access_rule network) {
  process_context_options options = settings(std::move(cwd));
  // So that they are seen where the build lies below /tmp or /var/tmp.
  options.isolation = isolation_settings().network(network).writable_roots({BERTH_TEST_PROGRAMS});
  return make_process_context(io, std::move(options));
}

context make_isolated(asio::io_context& io, std::string cwd) { return isolated(io, std::move(cwd), access_rule::deny); }

context make_online(asio::io_context& io, std::string cwd) { return isolated(io, std::move(cwd), access_rule::allow); }

constexpr const char* no_cgroups = "a sandbox has no cgroups";

constexpr place_kind kinds[] = {
    {"process", make_host},
    {"framed", make_framed},
    {"isolated", make_isolated, contract_scope::whole, no_cgroups},
    {"online", make_online, contract_scope::whole, no_cgroups},
    {"resident-files", make_resident_files, contract_scope::files},
    {"framed-resident-files", make_framed_resident_files, contract_scope::files},
};

}  // namespace

std::span<const place_kind> host_kinds() { return kinds; }

}  // namespace berth::contract
