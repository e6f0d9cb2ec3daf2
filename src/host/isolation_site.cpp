#include "host/isolation_site.hpp"

#include "berth/error.hpp"
#include "core/shown_path.hpp"
#include "core/syscall.hpp"
#include "host/environment.hpp"
#include "isolation/bwrap.hpp"
#include "isolation/bwrap_failure.hpp"
#include "isolation/dangerous_sockets.hpp"
#include "isolation/find_bwrap.hpp"
#include "isolation/syscall_filter.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace berth {
namespace {

namespace fs = std::filesystem;

// Their numbers in bwrap; the resident closes all but its socket.
constexpr int socket_fd = 3;
constexpr int arguments_fd = 4;
constexpr int filter_fd = 5;
constexpr int image_fd = 6;

/// Collects lines: the user's hook is called on another thread.
log_function collect_into(std::vector<std::string>& lines) {
  return [&lines](log_level, std::string_view line) { lines.emplace_back(line); };
}

unique_fd memory(const char* name) { return unique_fd(check_syscall(::memfd_create(name, MFD_CLOEXEC), name)); }

unique_fd memory_of(const std::vector<std::string>& words) {
  std::string bytes;
  for (const std::string& each : words) bytes += each + '\0';
  unique_fd fd = memory("bwrap-arguments");
  for (std::string_view left = bytes; !left.empty();) {
    const ssize_t n = check_syscall(::write(fd.get(), left.data(), left.size()), "arguments of bwrap");
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  check_syscall(::lseek(fd.get(), 0, SEEK_SET), "arguments of bwrap");
  return fd;
}

std::string make_tmp() {
  std::string path = (fs::temp_directory_path() / "berth-tmp-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr)
    throw error(std::error_code(errno, std::system_category()), "isolation: private /tmp " + shown_path(path));
  return fs::canonical(path).string();
}

[[noreturn]] void fail(const std::string& why) {
  throw error(make_error_code(errc::start_failed), "[isolation] " + why + "; command was not run");
}

/// Those that still are where they were; the first is the working directory.
std::vector<std::string> standing(const std::vector<std::string>& roots, std::vector<std::string>& warnings) {
  std::vector<std::string> kept;
  for (const std::string& root : roots) {
    std::error_code code;
    const fs::path real = fs::canonical(root, code);
    if (!code && real == root) {
      kept.push_back(root);
    } else if (!code) {
      fail("writable root " + shown_path(root) + " was replaced by a link");
    } else if (kept.empty()) {
      fail("writable root " + shown_path(root) + " is gone");
    } else {
      warnings.push_back("isolation: writable root " + shown_path(root) + " is left out: " + code.message());
    }
  }
  return kept;
}

}  // namespace

isolation_site::isolation_site(isolation_settings settings, const std::string& cwd) : settings_(std::move(settings)) {
  settings_.validate();
  root_options options;
  options.extra = settings_.writable_roots();
  options.allow_wide = settings_.allows_wide_roots();
  options.log = collect_into(warnings_);
  roots_ = resolve_writable_roots(cwd, options);
  protect_below(fs::canonical(cwd).string());
  if (settings_.tmp() == tmp_kind::own) tmp_ = make_tmp();
}

/// Also where the directory itself is no root, as one above it is.
void isolation_site::protect_below(const std::string& cwd) {
  std::vector<std::string> all = settings_.protected_paths();
  for (const std::string& each : settings_.protected_paths()) {
    if (!each.starts_with('/')) all.push_back(cwd + "/" + each);
  }
  settings_.protected_paths(std::move(all));
}

isolation_site::~isolation_site() {
  std::error_code ignored;
  if (!tmp_.empty()) fs::remove_all(tmp_, ignored);
}

prepared_sandbox isolation_site::prepare(const std::vector<std::string>& env) const {
  prepared_sandbox made;
  try {
    const logger log(collect_into(made.warnings));
    made.plan = make_isolation_plan(settings_, standing(roots_, made.warnings), tmp_, log);
    made.program = find_bwrap(made.plan.roots);
    make_mount_points(made.plan);
    made.arguments = memory_of(bwrap_arguments(made.plan, env, filter_fd));
    made.filter = make_syscall_filter(made.plan.unix_sockets);
    made.complaints = memory("bwrap-complaints");
  } catch (const error& failure) {
    if (failure.code() == errc::start_failed) throw;
    fail(failure.message());
  } catch (const std::system_error& failure) {
    fail(failure.what());
  }
  return made;
}

std::vector<std::string> isolation_site::changes(const std::vector<std::string>& env) const {
  std::vector<std::string> all = socket_variables();
  if (!tmp_.empty()) all.emplace_back("TMPDIR");
  // bwrap sets it to where it started.
  std::string directory = "PWD";
  for (const std::string& each : env) {
    if (name_of_variable(each) == "PWD") directory = each;
  }
  all.push_back(std::move(directory));
  return all;
}

launched_resident launch_isolated(asio::any_io_executor executor, const prepared_sandbox& sandbox) {
  int ends[2];
  check_syscall(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "a connection to a resident");
  unique_fd ours(ends[0]);
  const unique_fd its(ends[1]);
  helper_options options;
  options.argv = {"bwrap",
                  "--args",
                  std::to_string(arguments_fd),
                  "--",
                  memory_image::path(image_fd),
                  "isolated",
                  std::to_string(socket_fd)};
  // What commands inherit must not reach bwrap: LD_PRELOAD would run in it, outside.
  options.env = std::vector<std::string>();
  options.fds = {placed_fd{its.get(), socket_fd}, placed_fd{sandbox.arguments.get(), arguments_fd},
                 placed_fd{sandbox.filter.get(), filter_fd}, placed_fd{resident_image().fd(), image_fd},
                 placed_fd{sandbox.complaints.get(), 2}};
  try {
    helper_process process = helper_process::start(sandbox.program, options);
    return {std::move(process), make_socket_channel(std::move(executor), std::move(ours))};
  } catch (const error& failure) {
    fail("bwrap not usable: " + failure.message());
  }
}

std::string explain_failure(const prepared_sandbox& sandbox, const error& failure) {
  std::string text(4096, '\0');
  const ssize_t n = ::pread(sandbox.complaints.get(), text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  // Where a security policy refuses what lies in memory the next sandbox gets a file.
  if (text.find("execvp " + memory_image::path(image_fd)) != text.npos) resident_image().fall_back();
  if (text.empty() && failure.code() == errc::timeout) text = "it did not answer";
  return explain_bwrap_failure(text, read_namespace_settings());
}

}  // namespace berth
