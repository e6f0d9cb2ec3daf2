#include "docker/guest_launch.hpp"

#include "berth/error.hpp"
#include "context/resident_image.hpp"
#include "core/deadline.hpp"
#include "docker/attached_channel.hpp"
#include "docker/container_end.hpp"
#include "http/http_error.hpp"

#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <random>
#include <utility>

namespace berth {
namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

constexpr auto cleanup_takes = 30s;
constexpr auto shell_takes = 10s;  // it may be one that never answers
constexpr auto answer_takes = 10s;
constexpr auto explanation_takes = 5s;
constexpr auto hello_takes = 10000ms;
constexpr std::uint16_t program_mode = 0755;

/// Says which of some directories lets programs run, and takes one there from its standard input.
constexpr const char* shell_placement = R"sh(name=$1 size=$2; shift 2
for parent; do
  to=$parent/$name
  mkdir -m 700 "$to" 2>/dev/null || continue
  if printf '#!/bin/sh\nexit 0\n' 2>/dev/null >"$to/try" && chmod 700 "$to/try" && "$to/try" 2>/dev/null; then
    rm -f "$to/try"
    echo "$to"
    cat >"$to/resident" && chmod 700 "$to/resident" && [ "$(wc -c <"$to/resident")" -eq "$size" ] && exit 0
    rm -rf "$to"; exit 1
  fi
  rm -rf "$to"
done
exit 2)sh";

std::string directory_name() {
  std::random_device random;
  std::string name = ".berth-";
  for (int i = 0; i < 4; ++i) {
    constexpr const char* digits = "0123456789abcdef";
    for (unsigned bits = random() & 0xFFFFU, n = 0; n < 4; ++n, bits >>= 4U) name += digits[bits & 15U];
  }
  return name;
}

std::string joined(const std::string& directory, const std::string& name) {
  return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

std::string program_tar(const std::string& directory, std::string_view program) {
  std::vector<tar_entry> entries(2);
  entries[0].path = directory;
  entries[0].is_directory = true;
  entries[0].mode = program_mode;
  entries[1].path = directory + "/resident";
  entries[1].content = program;
  entries[1].mode = program_mode;
  return tar_of(entries);
}

/// One launch, place after place.
class guest_launch {
 public:
  guest_launch(asio::any_io_executor executor, given_container place, guest_launch_options options,
               std::shared_ptr<std::string> why_not)
      : executor_(std::move(executor)),
        place_(std::move(place)),
        options_(std::move(options)),
        why_not_(std::move(why_not)) {}

  static task<std::shared_ptr<launched_guest>> run(std::shared_ptr<guest_launch> self) {
    std::exception_ptr failure;
    try {
      co_await try_all(self);
    } catch (...) {
      failure = std::current_exception();
    }
    // Also after a cancellation in the middle.
    if (!self->directory_.empty()) {
      co_await hold_cancellation();
      co_await clean_up(self);
    }
    if (failure) std::rethrow_exception(failure);
    co_return self->guest_;
  }

 private:
  static task<void> try_all(std::shared_ptr<guest_launch> self) {
    words parents;
    if (!self->place_.read_only_root) parents.emplace_back("/");
    for (const std::string& each : self->place_.volumes) parents.push_back(each);
    for (const std::string& each : parents) {
      auto placing = upload(self, each);
      const bool placed = co_await std::move(placing);
      if (!placed) continue;
      co_await start(self);
      if (self->guest_) co_return;
      co_await remove_files(self);
    }
    co_await place_by_shell(self);
    if (!self->directory_.empty()) co_await start(self);
  }

  void note(const std::string& where, const std::string& what) {
    *why_not_ += (why_not_->empty() ? "" : "; ") + where + ": " + what;
    options_.log.info("docker: no resident in " + place_.shown + " at " + where + ": " + what);
  }

  static task<bool> upload(std::shared_ptr<guest_launch> self, std::string parent) {
    const std::string name = directory_name();
    std::string tar = program_tar(name, resident_bytes());
    self->directory_ = joined(parent, name);
    try {
      auto uploading = self->place_.box.upload(parent, std::move(tar));
      co_await std::move(uploading);
      co_return true;
    } catch (const error& failure) {
      if (is_cancelled(failure.code()) || dynamic_cast<const http::http_error*>(&failure) != nullptr) throw;
      self->note(parent, failure.message());
    }
    // A daemon that found a reason in the middle may have kept a part.
    co_await remove_files(self);
    co_return false;
  }

  words memory_directories() const {
    words all = place_.memory_directories;
    for (const char* usual : {"/dev/shm", "/run", "/tmp", "/var/tmp"}) {
      if (std::find(all.begin(), all.end(), usual) == all.end()) all.emplace_back(usual);
    }
    return all;
  }

  static task<void> place_by_shell(std::shared_ptr<guest_launch> self) {
    exec_request what;
    const std::string_view program = resident_bytes();
    const std::string name = directory_name();
    exec_input input(std::string(program), name + "\n");
    what.words = {"sh", "-c", shell_placement, "sh", name, std::to_string(program.size())};
    words offered;
    for (std::string& each : self->memory_directories()) {
      offered.push_back(joined(each, name));
      what.words.push_back(std::move(each));
    }
    what.user = self->options_.user;
    try {
      auto running = run_in_container(self->place_.box, std::move(what), std::move(input));
      auto bounded = with_deadline(std::move(running), shell_takes);
      const exec_outcome outcome = co_await std::move(bounded);
      std::string said = outcome.out;
      if (!said.empty() && said.back() == '\n') said.pop_back();
      // What it says goes away as root's: only what was asked of it.
      const bool is_offered = std::find(offered.begin(), offered.end(), said) != offered.end();
      if (outcome.started && outcome.code == 0 && is_offered) {
        self->directory_ = said;
        co_return;
      }
      self->note("by a shell", !outcome.started ? "there is none"
                                                : "no directory takes programs that can be run, or there is no room");
    } catch (const std::system_error& failure) {
      if (is_cancelled(failure.code())) throw;
      self->note("by a shell", failure.what());  // one that looked for no input has closed it
    }
  }

  static task<void> start(std::shared_ptr<guest_launch> self) {
    exec_request what;
    what.words = {self->directory_ + "/resident", "guest", std::to_string(self->options_.lease.count())};
    what.env = self->options_.env;
    what.cwd = "/";
    what.user = self->options_.user;
    what.input = true;
    auto creating = container_exec::create(self->place_.box, std::move(what));
    const container_exec program = co_await std::move(creating);
    http::stream_ptr stream = co_await program.start();
    auto guest = std::make_shared<launched_guest>(launched_guest{self->place_.box, program, nullptr});
    guest->link = self->make_link(program);
    std::string failed;
    try {
      auto attaching =
          guest->link->attach(make_attached_channel(self->executor_, std::move(stream), self->options_.log));
      co_await std::move(attaching);
    } catch (const error& failure) {
      if (is_cancelled(failure.code())) throw;
      failed = failure.message();
    }
    if (failed.empty()) {
      self->guest_ = std::move(guest);
      co_return;
    }
    auto asking = program.state();
    const std::optional<exec_state> state = co_await std::move(asking);
    if (state && state->code && state->pid == 0) failed = "it cannot be run there";
    self->note(self->directory_, failed);
  }

  std::shared_ptr<resident_link> make_link(const container_exec& program) const {
    resident_link_options link;
    link.log = options_.log;
    link.hello_timeout = hello_takes;
    link.explain = [box = place_.box, program] { return explain_guest_end(box, program); };
    return std::make_shared<resident_link>(executor_, std::move(link));
  }

  static task<void> clean_up(std::shared_ptr<guest_launch> self) {
    try {
      auto removing = remove_files(self);
      co_await shielded(cleanup_takes, std::move(removing));
    } catch (const std::system_error& failure) {
      self->options_.log.warning("docker: in " + self->place_.shown + " " + self->directory_ +
                                 " is left: " + failure.what());
    }
  }

  /// The resident has removed itself where it may. Else root does, by the image's `rm`; only where there is none by the same program,
  /// which somebody in the container may have replaced.
  static task<void> remove_files(std::shared_ptr<guest_launch> self) {
    co_await remove_directory(self, self->directory_);
    self->directory_.clear();
  }

  static task<void> remove_directory(std::shared_ptr<guest_launch> self, std::string directory) {
    const container& box = self->place_.box;
    for (int attempt = 0; attempt < 2; ++attempt) {
      const std::optional<archive_stat> left = co_await box.stat(directory);
      if (!left) co_return;
      exec_request what;
      what.user = "0";
      what.cwd = "/";
      if (attempt == 0) {
        what.words = {"rm", "-rf", directory};
      } else {
        what.words = {directory + "/resident", "file", "remove", "1", directory};
      }
      auto running = run_in_container(box, std::move(what));
      const exec_outcome outcome = co_await std::move(running);
      if (outcome.started) break;
    }
    const std::optional<archive_stat> left = co_await box.stat(directory);
    if (!left) co_return;
    // Nothing can be run there: at least it takes no room.
    self->options_.log.warning("docker: in " + self->place_.shown + " " + directory + " cannot be removed");
    auto emptying = box.upload(directory.substr(0, std::max<std::size_t>(directory.rfind('/'), 1)),
                               program_tar(directory.substr(directory.rfind('/') + 1), {}));
    co_await std::move(emptying);
  }

  asio::any_io_executor executor_;
  given_container place_;
  guest_launch_options options_;
  std::shared_ptr<std::string> why_not_;
  std::string directory_;  ///< that was made, and must go
  std::shared_ptr<launched_guest> guest_;
};

/// Of the container, of its daemon, of the resident, or only of the connection.
task<resident_end> find_end(container box, container_exec program) {
  constexpr int looks = 10;
  asio::steady_timer timer(co_await asio::this_coro::executor);
  resident_end found;
  for (int i = 0; i < looks; ++i) {
    const std::optional<container_state> state = co_await box.state();
    if (!state || !state->running) co_return co_await explain_end(std::move(box));
    const std::optional<exec_state> last = co_await program.state();
    if (!last) found.cause = "lost: the daemon was started again";
    // Where the whole container is being ended the resident is seen dead first.
    if (last && last->code && i + 1 == looks)
      found.cause = "lost: the resident in the container ended with " + std::to_string(*last->code);
    if (!found.cause.empty()) co_return found;
    timer.expires_after(100ms);
    co_await timer.async_wait(asio::use_awaitable);
  }
  found.cause =
      "lost: the connection broke, and the daemon has no way back to a resident in a container that is not ours";
  co_return found;
}

}  // namespace

task<std::shared_ptr<launched_guest>> launch_guest(asio::any_io_executor executor, given_container place,
                                                   guest_launch_options options, std::shared_ptr<std::string> why_not) {
  return guest_launch::run(
      std::make_shared<guest_launch>(std::move(executor), std::move(place), std::move(options), std::move(why_not)));
}

task<void> keep_heard(asio::any_io_executor executor, std::shared_ptr<launched_guest> guest,
                      std::chrono::milliseconds lease) {
  resident_session& session = *guest->link->session();
  const auto pause = std::min<std::chrono::milliseconds>(lease / 4, std::chrono::minutes(1));
  asio::steady_timer timer(executor);
  auto seen_paused = std::chrono::steady_clock::time_point();
  while (!session.lost()) {
    session.send(make_number_frame(wire::frame_type::ping, 0, 0));
    timer.expires_after(pause);
    co_await timer.async_wait(asio::use_awaitable);
    const auto now = std::chrono::steady_clock::now();
    if (session.lost() || now < std::max(session.last_heard(), seen_paused) + lease) continue;
    bool paused = false;
    try {
      auto asking = guest->box.state();
      auto bounded = with_deadline(std::move(asking), answer_takes);
      const std::optional<container_state> state = co_await std::move(bounded);
      paused = state && state->paused;
    } catch (const error& failure) {
      if (is_cancelled(failure.code())) throw;
    }
    if (paused) seen_paused = now;  // it may answer late, once it goes on
    // What came while this program was held up has been read by now.
    if (!paused && now >= session.last_heard() + lease)
      session.lose("lost: nothing was heard of the resident in the container for its lease");
  }
}

task<resident_end> explain_guest_end(container box, container_exec program) {
  auto asking = find_end(std::move(box), std::move(program));
  co_return co_await with_deadline(std::move(asking), explanation_takes);
}

}  // namespace berth
