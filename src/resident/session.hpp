#pragma once
/// The resident itself: takes frames, runs commands, reports their ends.

#include "resident/cgroup.hpp"
#include "resident/command.hpp"
#include "resident/own_memory.hpp"

#include <sys/resource.h>

namespace berth::resident {

/// What it was started in: a place of its own or this host, or a sandbox whose process 1 it is and whose launcher is its parent.
enum class surroundings { place, sandbox };

class session {
 public:
  session(channel::mode m, int in, int out, surroundings where);
  /// Until the owner is gone or says bye; then everything it started is dead. The exit code.
  int run();
  /// Ends if no hello comes within this time.
  void end_unless_greeted(std::int64_t ms) { greeted_until_ = now_ms() + ms; }
  /// All commands share the memory of this container: ends by the want of it are told, and the resident is to be the last.
  void share_memory() {
    shares_memory_ = true;
    memory_.open();
  }
  /// Ends when nothing came for this time, though the stream seems open.
  void end_unless_heard(std::int64_t ms) { silence_ms_ = ms; }

 private:
  // session.cpp: the owner's frames and the loop
  static bool on_frame(void* self, const wire::header& h, std::string_view payload);
  bool handle(const wire::header& h, std::string_view payload);
  void hello(std::string_view payload);
  void ports(std::uint32_t id);
  void fail(std::string_view why);
  std::int64_t silence_end() const { return silence_ms_ < 0 ? -1 : channel_.last_heard() + silence_ms_; }
  int timeout() const;
  void on_time();
  static void on_signal(source& s, std::uint32_t events);
  static void on_owner_death(source& s, std::uint32_t events);
  void reap();
  void leave();

  // starts.cpp: from a start frame to `started`
  void start(std::uint32_t id, std::string_view payload);
  wire::start_step make_streams(command& c, launch& l, const wire::start& request, int (&owners)[3]);
  int launch_child(command& c, launch& l);
  void start_failed(std::uint32_t id, wire::start_step step, int error, std::uint32_t detail = 0);
  static void on_report(source& s, std::uint32_t events);
  void finish_start(command& c);
  void reap_leader(command& c, int wait_status, const rusage& usage);
  void free_if_done(command* c);
  command* find(std::uint32_t id);

  // cgroups.cpp: those of the commands that have one
  bool open_cgroup(command& c, launch& l, const wire::start& request);
  cgroup* cgroup_of(std::uint32_t id);
  bool kill_cgroup(std::uint32_t id);
  void release_cgroup(std::uint32_t id);
  bool remove_cgroup(cgroup& g);
  void remove_all_cgroups();
  static void on_cgroup(source& s, std::uint32_t events);

  // endings.cpp: signals and kills
  void signal(std::uint32_t id, std::string_view payload);
  void kill(std::uint32_t id, std::string_view payload);
  void begin_ending(command& c, std::uint64_t grace_ms);
  void continue_ending(command& c);
  void finish_ending(command& c);

  // streams.cpp: framed bytes, and pipes left to drain
  void watch_streams(command& c);
  void watch_outputs(command& c);
  static void on_output(source& s, std::uint32_t events);
  static void on_input_ready(source& s, std::uint32_t events);
  static void on_drain(source& s, std::uint32_t events);
  bool input(std::uint32_t id, std::string_view payload);
  void write_input(command& c);
  void close_input(command& c, bool tell);
  void resize(std::uint32_t id, std::string_view payload);
  void resume_streams();
  void credit(const wire::header& h, std::string_view payload);
  void abandon(const wire::header& h);
  void add_drain(int fd);

  loop loop_;
  channel channel_;
  tree tree_;
  list<command> commands_;
  list<drain> drains_;
  list<cgroup> cgroups_;
  own_memory memory_;
  source signals_;
  source owner_;
  rlimit64 files_{};     ///< as inherited; children get it back
  bool paused_ = false;  ///< streams wait until the queue to the owner is shorter
  bool leaving_ = false;
  bool shares_memory_ = false;
  int exit_code_ = 0;
  std::int64_t silence_ms_ = -1;     ///< how long the owner may be silent; -1: for ever
  std::int64_t greeted_until_ = -1;  ///< a hello must come before; -1: it came, or may take its time
};

}  // namespace berth::resident
