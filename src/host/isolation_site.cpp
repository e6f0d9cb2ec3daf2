#include "host/isolation_site.hpp"

#include "berth/error.hpp"
#include "core/error_cause.hpp"
#include "core/paths.hpp"
#include "core/shown_path.hpp"
#include "core/syscall.hpp"
#include "host/environment.hpp"
#include "isolation/bwrap.hpp"
#include "isolation/bwrap_failure.hpp"
#include "isolation/dangerous_sockets.hpp"
#include "isolation/find_bwrap.hpp"
#include "isolation/mount_table.hpp"
#include "isolation/reach.hpp"
#include "isolation/roots_advice.hpp"
#include "isolation/syscall_filter.hpp"
#include "os/whole_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
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
constexpr int mounts_fd = 7;
constexpr int namespace_fd = 8;

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

/// Where the private /tmp is seen, so that nothing of the host's is.
std::vector<std::string> real_tmp_paths() {
  std::vector<std::string> all;
  for (const char* each : {"/tmp", "/var/tmp"}) {
    std::error_code code;
    const fs::path real = fs::canonical(each, code);
    if (!code) all.push_back(real.string());
  }
  return all;
}

/// As bwrap mounts it: the private /tmp first, then the roots.
std::shared_ptr<const path_scope> make_scope(const isolation_plan& plan, const std::string& setting_name) {
  path_rules rules;
  const bool all_writable = std::find(plan.roots.begin(), plan.roots.end(), "/") != plan.roots.end();
  for (const std::string& each : plan.tmp_at) {
    if (all_writable || directory_of(each, plan.roots) == nullptr) rules.places.push_back({each, plan.tmp, true});
  }
  for (const std::string& each : plan.roots) rules.places.push_back({each, each, true});
  if (all_writable) {
    for (const char* each : {"/proc", "/dev"}) rules.places.push_back({each, each, false});
  }
  rules.protected_paths = plan.protected_paths;
  rules.advice = roots_advice(plan.roots, setting_name);
  return std::make_shared<const path_scope>(std::move(rules));
}

[[noreturn]] void fail(const std::string& why) {
  throw error(make_error_code(errc::start_failed), "[isolation] " + why + "; command was not run");
}

/// Runs it; whatever goes wrong is why no command can start.
template <class Function>
void or_start_failed(Function function) {
  try {
    function();
  } catch (const error& failure) {
    if (failure.code() == errc::start_failed) throw;
    fail(message_with_cause(failure));
  } catch (const std::system_error& failure) {
    fail(failure.what());
  }
}

/// Of this host's, those in a root or around it.
std::vector<mount_entry> mounts_of(const std::vector<std::string>& roots) {
  auto all = parse_mount_table(whole_file("/proc/self/mountinfo"));
  std::erase_if(all, [&roots](const mount_entry& each) {
    const auto around = [&each](const std::string& root) { return is_at_or_below(root, each.point); };
    return directory_of(each.point, roots) == nullptr && std::none_of(roots.begin(), roots.end(), around);
  });
  return all;
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

std::string whole_table(const prepared_sandbox& sandbox) {
  std::string table;
  char bytes[4096];
  for (ssize_t n; (n = ::pread(sandbox.mounts.get(), bytes, sizeof bytes, static_cast<off_t>(table.size()))) > 0;)
    table.append(bytes, static_cast<std::size_t>(n));
  return table;
}

/// What the resident has sent.
unique_fd take_namespace(const prepared_sandbox& sandbox) {
  char byte = 0;
  iovec bytes{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(sandbox.namespace_in.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  int fd = -1;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return unique_fd(fd);
}

/// bwrap lets the sandbox follow what this host mounts, and nobody inside may change that: a process outside, which belongs to
/// whom the sandbox's namespace does, may. It must have one thread. Empty, or why not.
std::string seal_mounts(const prepared_sandbox& sandbox) {
  constexpr std::chrono::seconds patience(10);
  constexpr int in_helper[] = {3, 4};
  const unique_fd name_space = take_namespace(sandbox);
  if (!name_space) return "it is not known which namespace that is";
  helper_options options;
  options.argv = {"berth-resident", "seal", std::to_string(in_helper[0]), std::to_string(in_helper[1])};
  options.env = std::vector<std::string>();
  options.fds = {placed_fd{name_space.get(), in_helper[0]}, placed_fd{sandbox.mounts.get(), in_helper[1]}};
  const helper_process helper = helper_process::start(resident_image(), options);
  if (!helper.wait_blocking(patience)) {
    helper.kill(SIGKILL);
    helper.wait_blocking(patience);
    return "this took too long";
  }
  const int status = *helper.status();
  if (status == 0 || status == helper_process::status_unknown) return {};
  return WIFEXITED(status) ? std::system_category().message(WEXITSTATUS(status)) : describe_wait_status(status);
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
  if (settings_.tmp() == tmp_kind::own) tmp_.emplace(tmp_surroundings{roots_, real_tmp_paths()});
  mount_changes_.reset(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  plan_again(warnings_);
}

/// Also where the directory itself is no root, as one above it is.
void isolation_site::protect_below(const std::string& cwd) {
  std::vector<std::string> all = settings_.protected_paths();
  for (const std::string& each : settings_.protected_paths()) {
    if (!each.starts_with('/')) all.push_back(cwd + "/" + each);
  }
  settings_.protected_paths(std::move(all));
}

bool isolation_site::still_holds() {
  pollfd changes{mount_changes_.get(), POLLPRI, 0};
  if (::poll(&changes, 1, 0) > 0) mounts_seen_ = mounts_of(plan_.roots);
  return scope_ && look_at(plan_) == state_ && mounts_ == mounts_seen_;
}

isolation_plan isolation_site::make_plan(std::vector<std::string>& warnings) const {
  const logger log(collect_into(warnings));
  auto plan = make_isolation_plan(settings_, standing(roots_, warnings), tmp_ ? tmp_->path() : "", log);
  auto& all = plan.looked_at;
  all.insert(all.end(), roots_.begin(), roots_.end());  // those too that are left out now
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return plan;
}

void isolation_site::plan_again(std::vector<std::string>& warnings) {
  constexpr int most_tries = 4;
  if (tmp_ && !tmp_->stands()) fail("the private /tmp " + shown_path(tmp_->path()) + " is not where it was");
  for (int tries = 0;; ++tries) {
    std::vector<std::string> said, said_again;
    isolation_plan plan = make_plan(said);
    std::vector<path_state> state = look_at(plan);
    // What changed before the look is in the second plan; what changes from now on, the next look sees.
    if (make_plan(said_again) != plan && tries < most_tries) continue;
    warnings.insert(warnings.end(), said.begin(), said.end());
    make_mount_points(plan);
    mounts_seen_ = mounts_of(plan.roots);
    if (scope_ && plan == plan_ && state == state_ && mounts_ == mounts_seen_) return;
    mounts_ = mounts_seen_;
    scope_ = make_scope(plan, settings_.setting_name());
    plan_ = std::move(plan);
    state_ = std::move(state);
    ++number_;
    return;
  }
}

std::uint64_t isolation_site::look() {
  const std::lock_guard lock(mutex_);
  if (tmp_) tmp_->let_in();
  std::vector<std::string> unheard;  // preparing a sandbox says them
  if (!still_holds()) or_start_failed([&] { plan_again(unheard); });
  return number_;
}

std::shared_ptr<const path_scope> isolation_site::scope() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> unheard;
  try {
    if (!still_holds()) plan_again(unheard);
  } catch (const std::system_error&) {
    return scope_;  // it goes by directories that it holds open
  }
  return scope_;
}

void isolation_site::clean() noexcept {
  const std::lock_guard lock(mutex_);
  if (tmp_) tmp_->remove();
}

prepared_sandbox isolation_site::prepare(const std::vector<std::string>& env) {
  const std::lock_guard lock(mutex_);
  prepared_sandbox made;
  or_start_failed([&] {
    plan_again(made.warnings);
    made.plan = plan_;
    made.number = number_;
    made.program = find_bwrap(made.plan.roots);
    made.arguments = memory_of(bwrap_arguments(made.plan, env, filter_fd));
    made.filter = make_syscall_filter(made.plan.unix_sockets);
    made.complaints = memory("bwrap-complaints");
    made.mounts = memory("mounts");
    int ends[2];
    check_syscall(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "a connection to a sandbox");
    made.namespace_in.reset(ends[0]);
    made.namespace_out.reset(ends[1]);
  });
  return made;
}

std::vector<std::string> isolation_site::changes(const std::vector<std::string>& env) const {
  std::vector<std::string> all = socket_variables();
  if (tmp_) all.emplace_back("TMPDIR");
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
                  std::to_string(socket_fd),
                  std::to_string(mounts_fd),
                  std::to_string(namespace_fd)};
  // What commands inherit must not reach bwrap: LD_PRELOAD would run in it, outside.
  options.env = std::vector<std::string>();
  options.fds = {placed_fd{its.get(), socket_fd},
                 placed_fd{sandbox.arguments.get(), arguments_fd},
                 placed_fd{sandbox.filter.get(), filter_fd},
                 placed_fd{resident_image().fd(), image_fd},
                 placed_fd{sandbox.complaints.get(), 2},
                 placed_fd{sandbox.mounts.get(), mounts_fd},
                 placed_fd{sandbox.namespace_out.get(), namespace_fd}};
  try {
    helper_process process = helper_process::start(sandbox.program, options);
    return {std::move(process), make_socket_channel(std::move(executor), std::move(ours))};
  } catch (const error& failure) {
    fail("bwrap not usable: " + message_with_cause(failure));
  }
}

std::string find_wrong_mount(const prepared_sandbox& sandbox) {
  auto inside = parse_mount_table(whole_table(sandbox));
  std::string why;
  if (std::any_of(inside.begin(), inside.end(), [](const mount_entry& each) { return each.is_followed; })) {
    why = seal_mounts(sandbox);
    inside = parse_mount_table(whole_table(sandbox));
  }
  const auto host = parse_mount_table(whole_file("/proc/self/mountinfo"));
  const std::string wrong = find_wrong_mount(sandbox.plan, host, inside, is_barred);
  return wrong.empty() || why.empty() ? wrong : wrong + ": " + why;
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
