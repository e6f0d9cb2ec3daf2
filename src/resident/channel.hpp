#pragma once
/// The connection to the owner: frames in, frames out, and under a lease what must be sent again after a cut.

#include "resident/loop.hpp"
#include "resident/memory.hpp"
#include "wire/messages.hpp"

namespace berth::resident {

class channel {
 public:
  /// Called with each frame. False leaves the frame where it is, to be offered again by resume().
  using on_frame = bool (*)(void* owner, const wire::header& h, std::string_view payload);
  enum class mode { socket, stdio };
  enum class state { open, broken, ended };

  channel(loop& l, void* owner, on_frame f) : loop_(l), owner_(owner), on_frame_(f) {}
  ~channel();
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// Two descriptors, even where both mean one socket.
  void open(mode m, int in, int out);

  /// Queues a frame; descriptors are the channel's from now on and closed once sent.
  void send(wire::frame_type type, std::uint32_t id, std::uint16_t stream, std::string_view payload,
            const int* fds = nullptr, std::uint8_t fd_count = 0);
  void send_number(wire::frame_type type, std::uint32_t id, std::uint16_t stream, std::uint64_t n);
  void flush();
  /// Blocks for a short time to get the last words out.
  void flush_last();

  /// So much waits to be sent that nothing more should be begun.
  bool congested() const { return queued_ > congestion; }
  /// Can descriptors be sent?
  bool passes_fds() const { return mode_ == mode::socket && !leased(); }
  /// The next descriptor that came with the frame now being handled, or -1.
  int take_fd();
  /// Offers frames again that were left.
  void resume();

  state where() const { return state_; }
  bool leased() const { return lease_ms_ != 0; }
  /// When the lease ends unless something comes; -1 without one.
  std::int64_t lease_end() const { return lease_ms_ == 0 ? -1 : last_heard_ + lease_ms_; }
  /// When the last byte came, or since when one is waited for.
  std::int64_t last_heard() const { return last_heard_; }
  /// Something came that was not read yet: whoever has slept through it (a container that was paused) has not been left alone.
  bool has_unread() const;
  /// When flush() and resume() should be called again though nothing happens; -1 if nothing waits for time.
  std::int64_t wake_at() const;
  const char* complaint() const { return complaint_; }

  /// Takes an owner's hello: sets the lease, answers, and sends again what it has not received.
  void welcome(const wire::hello& h, std::uint32_t pid, std::uint32_t nonce);

 private:
  struct node {
    node* next = nullptr;
    std::uint64_t end = 0;  ///< bytes of counted frames up to and with this one; 0 is not counted
    std::uint32_t size = 0;
    std::uint32_t sent = 0;
    std::uint8_t fd_count = 0;
    int fds[wire::max_fds] = {-1, -1, -1};
    char* data() { return reinterpret_cast<char*>(this + 1); }
  };
  struct queue {
    node* first = nullptr;
    node* last = nullptr;
    void push(node* n);
    node* pop();
  };
  static constexpr std::size_t congestion = std::size_t{1} << 20;

  static void can_read(source& s, std::uint32_t events);
  static void can_write(source& s, std::uint32_t events);
  void read_socket();
  void read_pipe();
  void received(std::size_t size);
  bool begin_again(std::size_t from);
  std::size_t held_back() const;
  /// Handles what is whole in the first `limit` bytes of the input; how many bytes of it are left.
  std::size_t parse(std::size_t limit);
  void parse_greeting(std::size_t& limit);
  void handled(const wire::header& h);
  void complain(const char* why);
  bool send_some(node& n);
  void sent(node* n);
  static void discard(node* n);
  void drop_acknowledged(std::uint64_t offset);
  void send_again_from(std::uint64_t offset);
  void enqueue(node* n);
  node* make_node(std::size_t size);
  void gone(source& direction, const char* why);

  loop& loop_;
  void* owner_;
  on_frame on_frame_;
  mode mode_ = mode::socket;
  state state_ = state::open;
  source in_;
  source out_;
  buffer input_;
  bool has_token_ = false;
  bool greeting_ = true;  ///< the next thing is a hello
  char token_[wire::token_size] = {};
  int fds_[16];
  int fd_count_ = 0;
  int attached_ = 0;    ///< of those: how many belong to the frame now being handled
  bool waits_ = false;  ///< a frame was left
  queue out_queue_;
  queue retained_;
  std::size_t queued_ = 0;
  std::uint64_t sent_total_ = 0;
  std::uint64_t received_total_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint32_t lease_ms_ = 0;
  std::int64_t last_heard_ = 0;
  std::int64_t retry_at_ = -1;
  std::int64_t held_until_ = -1;
  const char* complaint_ = nullptr;
};

}  // namespace berth::resident
