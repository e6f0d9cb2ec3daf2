#include "host/denial_watch.hpp"

#include "core/deadline.hpp"
#include "core/paths.hpp"
#include "isolation/denial_lines.hpp"
#include "isolation/followed_path.hpp"
#include "isolation/hint.hpp"
#include "isolation/home.hpp"
#include "isolation/reach.hpp"
#include "os/without_capabilities.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace berth {
namespace {

namespace fs = std::filesystem;

/// Where the threads of the pool are busy for longer, there is no hint.
constexpr std::chrono::seconds answers_take{2};

/// What a command sees elsewhere than this process, and what tells of other processes: it is not asked about, as the answer would be in
/// the line. `path` is without links.
bool is_out_of_sight(const std::string& path) {
  if (is_at_or_below(path, "/proc/sys") || path == "/proc" || path == "/dev") return false;
  struct statfs on {};
  return is_at_or_below(path, "/dev") || is_at_or_below(path, "/proc") ||
         (::statfs(path.c_str(), &on) == 0 && on.f_type == PROC_SUPER_MAGIC);
}

/// Without links, as far as it is there; none where a way leads out of sight, for example by a link that the command made.
std::optional<std::string> path_in_sight(const std::string& named) {
  const auto way = follow_path(named, [](const std::string& each) { return !is_out_of_sight(each); });
  if (!way) return std::nullopt;
  return way->end;
}

bool is_there(const std::string& path) {
  struct stat about {};
  return path_in_sight(path) && ::lstat(path.c_str(), &about) == 0;
}

/// As the mode says it. In a sandbox root has no more rights than that, and no setting gives it more.
bool mode_lets_write(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return false;
  if (about.st_uid == ::geteuid()) return (about.st_mode & S_IWUSR) != 0;
  return (about.st_mode & (is_in_group(about.st_gid) ? S_IWGRP : S_IWOTH)) != 0;
}

/// Or what it would be made in. A file system that is read-only on this host says so here.
bool is_writable(const std::string& path) {
  fs::path at = path_in_sight(path).value_or("");
  if (at.empty()) return false;
  while (!is_there(at.string()) && at.has_relative_path()) at = at.parent_path();
  if (::faccessat(AT_FDCWD, at.c_str(), W_OK, AT_EACCESS) != 0) return false;
  return ::geteuid() != 0 || mode_lets_write(at.string());
}

std::string real_path(const std::string& path) { return path_in_sight(path).value_or(path); }

struct ended {
  std::string lines;
  std::string cwd;
  int code = 0;
};

/// Blocks.
std::optional<denial> ask_host(const denial_rules& rules, const ended& command) {
  const without_capabilities as_a_command;  // the answer is in the line
  if (!as_a_command.holds()) return std::nullopt;
  const host_view host{is_writable, is_there, real_path, is_wide_root};
  return find_denial(rules.settings, rules.plan, {command.lines, real_path(command.cwd), command.code}, host);
}

class watched_process final : public backend_process {
 public:
  watched_process(std::unique_ptr<backend_process> process, watched_command what, std::shared_ptr<blocking_pool> pool)
      : state_(std::make_shared<state>()) {
    state_->process = std::move(process);
    state_->what = std::move(what);
    state_->pool = std::move(pool);
  }

  std::int64_t pid() const noexcept override { return inner().pid(); }
  task<process_event> next(time_point until) override { return next_of(state_, until); }
  bool has_exited() const noexcept override { return inner().has_exited(); }
  bool is_over() const noexcept override { return inner().is_over(); }
  task<void> write(std::string bytes) override { return inner().write(std::move(bytes)); }
  void close_stdin() override { inner().close_stdin(); }
  void signal(int signo) override { inner().signal(signo); }
  void resize(terminal_size size) override { inner().resize(size); }
  task<std::vector<std::uint16_t>> ports() override { return inner().ports(); }
  void kill(std::chrono::milliseconds grace) override { inner().kill(grace); }
  void abandon_streams() override { inner().abandon_streams(); }
  task<std::optional<denial>> denied(exit_status status) override { return find(state_, status.code()); }

 private:
  struct state {
    std::unique_ptr<backend_process> process;
    watched_command what;
    std::shared_ptr<blocking_pool> pool;
    denial_lines lines;
    std::string suspicious;
  };

  backend_process& inner() const noexcept { return *state_->process; }

  static task<process_event> next_of(std::shared_ptr<state> self, time_point until) {
    auto waiting = self->process->next(until);
    process_event happened = co_await std::move(waiting);
    const auto* const piece = std::get_if<chunk>(&happened);
    if (piece != nullptr && piece->stream() == self->what.stream) self->lines.add(piece->bytes());
    co_return happened;
  }

  static task<std::optional<denial>> find(std::shared_ptr<state> self, int code) {
    // Kept for the next question, if this one is cancelled.
    self->suspicious += self->lines.take();
    if (self->suspicious.empty()) co_return std::nullopt;
    ended end;
    end.lines = self->suspicious;
    end.cwd = self->what.cwd;
    end.code = code;
    auto ask = [rules = self->what.rules, end] { return ask_host(*rules, end); };
    auto asking = self->pool->run(std::move(ask));
    auto bounded = with_deadline(std::move(asking), answers_take);
    co_return co_await std::move(bounded);
  }

  std::shared_ptr<state> state_;
};

}  // namespace

watched_command watched_in(const command& what) {
  watched_command made;
  if (what.merges_stderr() || what.terminal()) made.stream = output_stream::std_out;
  made.cwd = what.cwd();
  return made;
}

std::unique_ptr<backend_process> watch_for_denials(std::unique_ptr<backend_process> process, watched_command what,
                                                   std::shared_ptr<blocking_pool> pool) {
  return std::make_unique<watched_process>(std::move(process), std::move(what), std::move(pool));
}

}  // namespace berth
