#pragma once
/// An owner made of bare frames: starts the real resident, says exactly what a test wants to say, and takes what it answers.

#include "os/unique_fd.hpp"
#include "wire/messages.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::test {

using std::chrono::milliseconds;
constexpr milliseconds patience{60000};

struct frame {
  wire::header head;
  std::string payload;
  std::vector<unique_fd> fds;

  wire::frame_type type() const { return head.type; }
  std::uint64_t number() const;
};

enum class transport { socket, pipes };

struct resident_options {
  transport over = transport::socket;
  /// Runs in the resident's process just before exec.
  std::function<void()> before_exec = {};
  bool greet = true;
};

/// Fields of a start frame.
struct start_request {
  std::vector<std::string> argv;
  std::uint32_t flags = 0;
  std::uint32_t grace_ms = 2000;
  std::uint32_t credit = wire::initial_credit;
  std::string cwd = {};
  std::vector<std::string> env = {};
  wire::resize size = {};
  std::vector<std::pair<wire::limit, std::uint64_t>> limits = {};
  std::string cgroup = {};
  std::uint64_t cgroup_memory = 0;
  std::uint64_t cgroup_processes = 0;
};

/// `sh -c TEXT`
start_request shell(std::string text, std::uint32_t flags = 0);
/// The same in a terminal of 80 columns and 24 rows.
start_request in_terminal(std::string text, std::uint32_t flags = 0);
/// `child WORDS`: the program of tests/support
start_request child(std::vector<std::string> words, std::uint32_t flags = 0);

std::string hello_bytes(const wire::hello& h);
/// The whole frame, with the token in front of it where there is a lease.
std::string greeting_bytes(const wire::hello& h, std::uint8_t fds = 0);
std::string start_bytes(const start_request& request);
std::string number_bytes(std::uint64_t n);
std::string frame_bytes(wire::frame_type type, std::uint32_t id, std::uint16_t stream, std::string_view payload,
                        std::uint8_t fds = 0);

/// Life: its end closes the connection, under a lease with a bye, and fails the test where the resident, or anything it started,
/// lives on for 10 s.
class client {
 public:
  explicit client(resident_options options = {});
  ~client();
  client(const client&) = delete;

  /// Sends a hello and takes the welcome.
  wire::welcome greet(const wire::hello& h = {}, std::initializer_list<int> fds = {});
  /// Under a lease, however the stream was left: ends the resident.
  void say_bye();
  void send_raw(std::string_view bytes, std::initializer_list<int> fds = {});
  void send(wire::frame_type type, std::uint32_t id, std::string_view payload = {}, std::uint16_t stream = 0,
            std::initializer_list<int> fds = {});
  void send_number(wire::frame_type type, std::uint32_t id, std::uint64_t n, std::uint16_t stream = 0);
  void start(std::uint32_t id, const start_request& request) {
    send(wire::frame_type::start, id, start_bytes(request));
  }
  /// Starts it and waits until it runs; its pid.
  pid_t run(std::uint32_t id, const start_request& request);

  /// The next frame; none when the time passes or the stream ends.
  std::optional<frame> next(milliseconds time = patience);
  /// The next frame of this type for this command; what comes before stays for later. Throws when none comes.
  frame expect(wire::frame_type type, std::uint32_t id = 0, milliseconds time = patience);
  /// True if no frame of that kind comes within the time.
  bool stays_silent(wire::frame_type type, std::uint32_t id, milliseconds time);
  wire::exited expect_exit(std::uint32_t id);
  wire::start_failed expect_failure(std::uint32_t id);
  /// Collects `output` frames of a stream until its end, granting credit as it goes; with a text, until that has come.
  std::string output(std::uint32_t id, wire::stream s = wire::stream::out, std::string_view until = {});

  /// Reads what there is into the buffer of the owner, frames or not.
  std::string raw_bytes(milliseconds time);
  /// The resident's wait status; fails the test if it does not end in time.
  int wait_end(milliseconds time = patience);
  bool has_ended(milliseconds time);
  void hang_up();

  pid_t pid() const { return pid_; }
  std::uint32_t nonce() const { return nonce_; }
  int to() const { return to_.get(); }
  int from() const { return from_.get() >= 0 ? from_.get() : to_.get(); }
  std::size_t buffered() const { return bytes_.size(); }

 private:
  bool receive(milliseconds time);
  std::optional<frame> take();

  pid_t pid_ = -1;
  std::optional<int> status_;
  unique_fd to_;
  unique_fd from_;  ///< only where the two directions are pipes
  std::string bytes_;
  std::deque<unique_fd> fds_;
  std::deque<frame> kept_;
  wire::hello greeting_;
  std::uint32_t nonce_ = 0;
};

/// Calls it until it is true or the time has passed.
bool becomes(const std::function<bool()>& condition, milliseconds time = patience);
/// Pids of living processes whose soft or hard tag is of this nonce, and of a command if one is given.
std::vector<pid_t> tagged(std::uint32_t nonce, std::optional<std::uint32_t> id = {});
/// Everything until the end of the descriptor, or as much as was there when the time passed.
std::string read_all(int fd, milliseconds time = patience);
/// CPU time of a process so far.
std::chrono::microseconds cpu_time(pid_t pid);
/// CPU time used in the next 300 ms: an idle resident uses next to none.
std::chrono::microseconds burnt(pid_t pid);
std::vector<pid_t> pids_after_word(std::string_view text);
void skip(const char* reason);
/// A user that no other test runs processes as.
uid_t lone_user();

}  // namespace berth::test
