#include "context/resident_session.hpp"

#include "berth/error.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace berth {
namespace {

constexpr std::size_t least_space = 4u << 10;
constexpr std::size_t first_input = 16u << 10;
constexpr std::size_t buffer_size = 256u << 10;

bool is_counted(wire::frame_type type) noexcept {
  return type != wire::frame_type::hello && type != wire::frame_type::welcome;
}

}  // namespace

std::string make_frame(wire::frame_type type, std::uint32_t id, wire::stream stream, std::string_view payload) {
  wire::header header;
  header.size = static_cast<std::uint32_t>(payload.size());
  header.type = type;
  header.stream = static_cast<std::uint16_t>(stream);
  header.id = id;
  char raw[wire::header_size];
  wire::put_header(header, raw);
  std::string frame;
  frame.reserve(sizeof raw + payload.size());
  frame.append(raw, sizeof raw);
  frame.append(payload);
  return frame;
}

std::string make_number_frame(wire::frame_type type, std::uint32_t id, std::uint64_t number, wire::stream stream) {
  std::string payload;
  wire::put_number(payload, number);
  return make_frame(type, id, stream, payload);
}

resident_session::resident_session(asio::any_io_executor executor, logger log)
    : executor_(executor), log_(std::move(log)), changed_(executor), became_busy_(executor) {}

void resident_session::use_lease(std::chrono::milliseconds lease) {
  lease_.emplace(make_resident_token());
  lease_time_ = lease;
}

void resident_session::connect(std::shared_ptr<resident_channel> channel, unique_fd owner) {
  if (channel_) channel_->close();
  channel_ = std::move(channel);
  begin_ = end_ = 0;
  greeted_ = false;
  cut_ = false;
  ++attempt_;
  found_ = !lease_;
  last_heard_ = clock::now();
  wire::hello hello;
  hello.attempt = attempt_;
  std::string greeting;
  if (lease_) {
    hello.lease_ms = static_cast<std::uint32_t>(lease_time_.count());
    hello.received = lease_->connect();
    std::memcpy(hello.token, lease_->token().data(), wire::token_size);
    greeting.assign(hello.token, wire::token_size);
  }
  std::vector<unique_fd> fds;
  if (owner) hello.flags |= wire::hello_has_owner_pidfd;
  if (owner) fds.push_back(std::move(owner));
  std::string payload;
  hello.put(payload);
  std::string frame = make_frame(wire::frame_type::hello, 0, wire::stream::in, payload);
  frame[5] = static_cast<char>(fds.size());
  channel_->send(greeting + frame, std::move(fds));
}

std::span<char> resident_session::space() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (input_.empty()) input_.resize(first_input);
  if (input_.size() - end_ < least_space && begin_ > 0) {
    std::memmove(input_.data(), input_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  if (input_.size() - end_ < least_space) input_.resize(input_.size() * 2);
  return std::span(input_).subspan(end_);
}

bool resident_session::received(std::size_t bytes) {
  last_heard_ = clock::now();
  const bool filled = end_ + bytes == input_.size();
  end_ += bytes;
  if (!find_token()) return true;
  for (;;) {
    wire::header header;
    std::string_view payload;
    const std::string_view in(input_.data() + begin_, end_ - begin_);
    const wire::parse_result result = wire::parse(in, header, payload);
    if (result == wire::parse_result::broken) return broken("a frame that cannot be");
    if (result == wire::parse_result::need_more) break;
    begin_ += wire::header_size + payload.size();
    if (!handle(header, payload)) return false;
    if (!found_ && !find_token()) return true;
  }
  inbox_.reserve.refill();
  // Bulk comes in reads that fill the buffer: fewer and larger ones are cheaper.
  if (filled && begin_ == end_ && input_.size() < buffer_size) input_.resize(input_.size() * 2);
  if (greeted_ && lease_ && lease_->acknowledgement_due()) send_ack();
  return true;
}

// Under a lease: nothing counts before the token, and whatever lies before a later one belongs to a connection that is no more.
bool resident_session::find_token() {
  if (!lease_) return true;
  bool found = false;
  const std::string_view in(input_.data() + begin_, end_ - begin_);
  const std::string_view rest = lease_->look_for_token(in, found_ && !greeted_, found);
  if (found) {
    begin_ = end_ - rest.size();
    found_ = true;
    greeted_ = false;
  }
  if (!found_ && in.size() >= wire::token_size) begin_ = end_ - (wire::token_size - 1);
  return found_;
}

bool resident_session::handle(const wire::header& header, std::string_view payload) {
  if (!greeted_) {
    if (header.type == wire::frame_type::failed) return control(header, payload);
    return header.type == wire::frame_type::welcome ? welcome(payload) : broken("no welcome");
  }
  fd_batch fds;
  if (header.fds > 0 && !take_batch(header, fds)) return broken("descriptors that do not fit their frame");
  if (lease_ && is_counted(header.type) && !lease_->received(wire::header_size + payload.size())) return true;
  if (header.id == 0) return control(header, payload);
  dispatch(header, payload, std::move(fds));
  return true;
}

bool resident_session::welcome(std::string_view payload) {
  if (!welcome_.get(payload)) return broken("a welcome that cannot be read");
  if (welcome_.version != wire::version) return broken("another version of the protocol");
  if (lease_) {
    if (std::memcmp(welcome_.token, lease_->token().data(), wire::token_size) != 0)
      return broken("a welcome of another resident");
    if (welcome_.attempt != attempt_) {
      // The answer to the hello of a connection that was cut before it came; what it made the resident send belongs there, too.
      found_ = false;
      return true;
    }
    if (!lease_->acknowledged(welcome_.received)) return broken("more received than was sent");
    lease_->begin_incoming();
    for (std::string& frame : lease_->unacknowledged()) channel_->send(std::move(frame), {});
  }
  greeted_ = true;
  changed_.notify();
  return true;
}

bool resident_session::control(const wire::header& header, std::string_view payload) {
  switch (header.type) {
    case wire::frame_type::pong: {
      if (lease_) send_ack();
      std::uint64_t question = 0;  // of who only wants to hear something
      if (!wire::get_number(payload, question) || question <= answered_) return true;
      answered_ = std::min(question, asked_);
      tell_news();
      return true;
    }
    case wire::frame_type::ack: {
      std::uint64_t bytes = 0;
      if (!lease_ || !wire::get_number(payload, bytes) || !lease_->acknowledged(bytes))
        return broken("an ack that cannot be");
      return true;
    }
    case wire::frame_type::failed: {
      wire::reader fields(payload);
      return broken("the resident says: " + std::string(fields.bytes()));
    }
    default:
      return broken("a frame out of place");
  }
}

void resident_session::dispatch(const wire::header& header, std::string_view payload, fd_batch fds) {
  const auto at = commands_.find(header.id);
  if (at == commands_.end()) return;  // forgotten: its descriptors close here
  const std::shared_ptr<frame_sink> keep = at->second.sink;
  keep->on_frame(header, payload, std::move(fds));
}

// One message carries the descriptors of one frame, so a batch belongs to the next frame that says it has some.
bool resident_session::take_batch(const wire::header& header, fd_batch& into) {
  if (inbox_.batches.empty()) return false;
  into = std::move(inbox_.batches.front());
  inbox_.batches.pop_front();
  return into.truncated || into.fds.size() == header.fds;
}

bool resident_session::broken(std::string why) {
  if (complaint_.empty()) complaint_ = std::move(why);
  return false;
}

void resident_session::send_ack() { send(make_number_frame(wire::frame_type::ack, 0, lease_->received())); }

void resident_session::cut_off() {
  greeted_ = false;
  cut_ = true;
  changed_.notify();
}

void resident_session::close() noexcept {
  if (channel_) channel_->close();
}

void resident_session::lose(const std::string& cause) {
  if (lost_) return;
  lost_ = cause;
  greeted_ = false;
  close();
  inbox_.batches.clear();
  inbox_.reserve.settle(inbox_.reserve.expected());
  busy_count_ = 0;
  const auto all = std::exchange(commands_, {});
  for (const auto& [id, each] : all) each.sink->on_lost(cause);
  changed_.notify();
  became_busy_.notify();
}

void resident_session::lose_to_memory(const std::string& cause) {
  if (!lost_) ran_out_of_memory_ = true;
  lose(cause);
}

void resident_session::obstruct(const std::string& why) {
  if (lost_ || obstacle_ == why) return;
  obstacle_ = why;
  tell_news();
}

std::uint64_t resident_session::ask() {
  send(make_number_frame(wire::frame_type::ping, 0, ++asked_));
  return asked_;
}

void resident_session::tell_news() {
  const auto all = commands_;  // one may go when it hears of it
  for (const auto& [id, each] : all) each.sink->on_news();
}

std::uint32_t resident_session::add(std::shared_ptr<frame_sink> sink) {
  if (++last_id_ == 0) throw error(make_error_code(errc::limit_exceeded), "a resident takes 4294967295 commands");
  commands_.emplace(last_id_, entry{std::move(sink)});
  return last_id_;
}

void resident_session::forget(std::uint32_t id) {
  set_busy(id, false);
  commands_.erase(id);
}

void resident_session::set_busy(std::uint32_t id, bool busy) {
  const auto at = commands_.find(id);
  if (at == commands_.end() || at->second.busy == busy) return;
  at->second.busy = busy;
  busy_count_ += busy ? 1 : -1;
  if (busy && busy_count_ == 1) became_busy_.notify();
}

void resident_session::send(std::string frame, std::vector<unique_fd> fds) {
  if (lost_ || !channel_) return;
  frame[5] = static_cast<char>(fds.size());
  if (lease_) lease_->sent(frame);
  // Before the welcome it is not known what the resident has had: it is sent then.
  if (!lease_ || greeted_) channel_->send(std::move(frame), std::move(fds));
}

std::span<char> resident_session::read_buffer() {
  if (!buffer_) buffer_ = std::make_unique<char[]>(buffer_size);
  return {buffer_.get(), buffer_size};
}

}  // namespace berth
