#include "host/isolation_site.hpp"

#include "berth/error.hpp"
#include "core/error_cause.hpp"
#include "core/paths.hpp"
#include "core/shown_path.hpp"
#include "core/syscall.hpp"
#include "host/environment.hpp"
#include "isolation/all_roots.hpp"
#include "isolation/bwrap.hpp"
#include "isolation/dangerous_sockets.hpp"
#include "isolation/find_bwrap.hpp"
#include "isolation/mount_table.hpp"
#include "isolation/roots_advice.hpp"
#include "isolation/syscall_filter.hpp"
#include "os/whole_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace berth {
namespace {

namespace fs = std::filesystem;

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

/// Where roots lie in the private /tmp, by its other names.
std::vector<std::string> other_mount_points(const isolation_plan& plan, const path_rules& rules) {
  std::vector<std::string> all;
  for (const std::string& each : mount_points(plan)) {
    const std::string& name = *directory_of(each, plan.tmp_at);
    for (const path_rules::place& other : rules.places) {
      if (other.seen_at != name) all.push_back(other.seen_at + each.substr(name.size()));
    }
  }
  return all;
}

/// As bwrap mounts it: the private /tmp first, then the roots.
std::shared_ptr<const path_scope> make_scope(const isolation_plan& plan, const std::vector<std::string>& given,
                                             const std::string& setting_name) {
  path_rules rules;
  const bool all_writable = std::find(plan.roots.begin(), plan.roots.end(), "/") != plan.roots.end();
  for (const std::string& each : plan.tmp_at) {
    if (all_writable || directory_of(each, plan.roots) == nullptr) rules.places.push_back({each, plan.tmp, true});
  }
  rules.kept = other_mount_points(plan, rules);
  rules.held = given;  // also those below another
  for (const std::string& each : plan.roots) rules.places.push_back({each, each, true});
  if (all_writable) {
    for (const char* each : {"/proc", "/dev"}) rules.places.push_back({each, each, false});
  }
  rules.protected_paths = plan.protected_paths;
  rules.advice = roots_advice(plan.roots, setting_name);
  return std::make_shared<const path_scope>(std::move(rules));
}

/// For looking only: the private /tmp, and those of the roots that are what they were.
isolation_plan bare_plan(const std::string& tmp, const std::vector<std::string>& roots) {
  isolation_plan plan;
  for (const std::string& each : outermost(roots)) {
    std::error_code code;
    if (fs::canonical(each, code) == each) plan.roots.push_back(each);
  }
  if (!tmp.empty()) plan.tmp_at = real_tmp_paths();
  plan.tmp = tmp;
  make_mount_points(plan);
  return plan;
}

[[noreturn]] void fail(const std::string& why) { throw error(make_error_code(errc::unavailable), why); }

/// Runs it; whatever goes wrong is why no command can start.
template <class Function>
void or_start_failed(Function function) {
  try {
    function();
  } catch (const error& failure) {
    if (failure.code() == errc::start_failed) throw;
    fail_start(message_with_cause(failure));
  } catch (const std::system_error& failure) {
    fail_start(failure.what());
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

/// Those that still are where they were; the first of the outermost holds the working directory. What lies below another one
/// may come and go.
std::vector<std::string> standing(const std::vector<std::string>& roots, std::vector<std::string>& warnings) {
  std::vector<std::string> kept;
  for (const std::string& root : outermost(roots)) {
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
  std::vector<std::string> all = roots;
  std::erase_if(all, [&kept](const std::string& each) { return directory_of(each, kept) == nullptr; });
  return all;
}

}  // namespace

isolation_site::isolation_site(isolation_settings settings, const std::string& cwd) : settings_(std::move(settings)) {
  settings_.validate();
  root_options options;
  options.extra = settings_.writable_roots();
  options.allow_wide = settings_.allows_wide_roots();
  options.log = collect_into(warnings_);
  roots_ = resolve_all_roots(cwd, options);
  if (settings_.tmp() == tmp_kind::own) tmp_.emplace(tmp_surroundings{roots_, real_tmp_paths()});
  mount_changes_.reset(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  try {
    plan_again(warnings_);
  } catch (const std::system_error&) {
    // Each command says why, and so do file operations.
    const isolation_plan bare = bare_plan(tmp_ ? tmp_->path() : "", roots_);
    if (bare.roots.empty()) throw;
    scope_ = make_scope(bare, roots_, settings_.setting_name());
  }
}

bool isolation_site::still_holds() {
  pollfd changes{mount_changes_.get(), POLLPRI, 0};
  if (::poll(&changes, 1, 0) > 0) mounts_seen_ = mounts_of(plan_.roots);
  return number_ > 0 && look_at(plan_) == state_ && mounts_ == mounts_seen_;
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
    make_mount_points(plan);
    std::vector<path_state> state = look_at(plan);
    // What changed before the look is in the second plan; what changes from now on, the next look sees.
    if (make_plan(said_again) != plan && tries < most_tries) continue;
    warnings.insert(warnings.end(), said.begin(), said.end());
    mounts_seen_ = mounts_of(plan.roots);
    if (const std::string found = find_kernel_mount(plan, mounts_seen_); !found.empty()) fail(found);
    if (number_ > 0 && plan == plan_ && state == state_ && mounts_ == mounts_seen_) return;
    scope_ = make_scope(plan, roots_, settings_.setting_name());
    mounts_ = mounts_seen_;
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
  } catch (const error& failure) {
    return scope_->refusing("isolation: " + message_with_cause(failure));
  } catch (const std::system_error& failure) {
    return scope_->refusing(std::string("isolation: ") + failure.what());
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
    made.arguments = memory_of(bwrap_arguments(made.plan, env, filter_in_bwrap));
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

}  // namespace berth
