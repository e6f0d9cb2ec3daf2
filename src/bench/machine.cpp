#include "bench/machine.hpp"

#include <berth/version.hpp>

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include <cstdlib>
#include <ctime>
#include <fstream>

namespace berth::bench {
namespace {

/// The first value of this name in /proc/cpuinfo; the machine's kind where it does not say.
std::string cpu_name(const utsname& system) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return system.machine;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32] = "";
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

constexpr bool optimized() {
#ifdef __OPTIMIZE__
  return true;
#else
  return false;
#endif
}

}  // namespace

environment this_machine() {
  utsname system{};
  ::uname(&system);
  double load[1] = {0};
  ::getloadavg(load, 1);
  environment found;
  found.kernel = std::string(system.sysname) + ' ' + system.release + ' ' + system.machine;
  found.cpu = cpu_name(system);
  found.cores = ::get_nprocs();
  found.load = load[0];
  found.versions.emplace_back("berth", version);
  found.versions.emplace_back("compiler", __VERSION__);
  found.versions.emplace_back("build", optimized() ? "optimized" : "not optimized");
#ifdef __GLIBC__
  found.versions.emplace_back("glibc", ::gnu_get_libc_version());
#endif
  found.date = utc_now();
  return found;
}

}  // namespace berth::bench
