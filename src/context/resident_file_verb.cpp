#include "context/resident_file_verb.hpp"

#include "berth/error.hpp"
#include "context/resident_file_error.hpp"

#include <system_error>
#include <utility>
#include <variant>

namespace berth {
namespace {

constexpr std::size_t joined_size = std::size_t{64} << 10;  // below it a piece and its header go in one write

[[noreturn]] void fail_protocol() {
  throw error(make_error_code(errc::protocol), "what the resident answered cannot be");
}

}  // namespace

void record_reader::add(std::string bytes) {
  if (empty())
    bytes_ = std::move(bytes);
  else
    bytes_ = bytes_.substr(at_) + bytes;
  at_ = 0;
}

bool record_reader::next(wire::record_type& type, std::string_view& fields) {
  const auto what = wire::parse_record(std::string_view(bytes_).substr(at_), type, fields);
  if (what == wire::parse_result::broken) fail_protocol();
  if (what == wire::parse_result::need_more) return false;
  at_ += wire::record_header + fields.size();
  return true;
}

task<std::shared_ptr<resident_file_verb>> resident_file_verb::start(command_starter starter,
                                                                    std::vector<std::string> words, takes what) {
  words.insert(words.begin(), {wire::own_program, wire::file_word});
  command program(std::move(words));
  program.cwd("/");
  if (what == takes::input) program.input_stream();
  auto starting = starter(std::move(program));
  auto process = co_await std::move(starting);
  co_return std::make_shared<resident_file_verb>(std::move(process));
}

task<std::shared_ptr<resident_file_verb>> resident_file_verb::ask(command_starter starter,
                                                                  std::shared_ptr<resting_verbs> resting,
                                                                  std::vector<std::string> words) {
  std::size_t size = 0;
  bool fits = true;
  for (const std::string& each : words) {
    size += each.size() + 1;
    fits = fits && each.find('\0') == each.npos;
  }
  if (!fits || size > wire::max_question)
    co_return co_await start(std::move(starter), std::move(words), takes::nothing);
  std::string asked;
  wire::put_piece_header(asked, size);
  for (const std::string& each : words) asked += each + '\0';
  while (!resting->all.empty()) {
    const std::shared_ptr<resident_file_verb> running = std::move(resting->all.back());
    resting->all.pop_back();
    co_await question(running, resting, asked);
    // One that was killed, or ended just now since nobody asked, has changed nothing: another is asked.
    if (!running->over() || running->failure_) co_return running;
  }
  std::vector<std::string> serve{wire::verb::serve};
  const auto fresh = co_await start(std::move(starter), std::move(serve), takes::input);
  fresh->serves_ = true;
  co_await question(fresh, resting, std::move(asked));
  co_return fresh;
}

/// Returns with the first sign of an answer.
task<void> resident_file_verb::question(std::shared_ptr<resident_file_verb> self,
                                        std::shared_ptr<resting_verbs> resting, std::string bytes) {
  self->received_ = 0;
  self->done_.reset();
  self->resting_ = resting;
  co_await write(self, std::move(bytes));
  while (!self->over() && !self->answered() && self->first_.empty())
    self->first_ = co_await step(self, time_point::max());
}

void resident_file_verb::rest(const std::shared_ptr<resident_file_verb>& self) {
  const auto resting = self->resting_.lock();
  self->resting_.reset();  // once for each question
  if (resting && resting->all.size() < resting_verbs::most) resting->all.push_back(self);
}

task<std::string> resident_file_verb::step(std::shared_ptr<resident_file_verb> self, time_point until) {
  auto waiting = self->process_->next(until);
  process_event event = co_await std::move(waiting);
  co_return self->take(std::move(event));
}

task<std::string> resident_file_verb::next(std::shared_ptr<resident_file_verb> self) {
  if (!self->first_.empty()) co_return std::exchange(self->first_, {});
  while (!self->over() && !self->answered()) {
    std::string bytes = co_await step(self, time_point::max());
    if (!bytes.empty()) co_return bytes;
  }
  if (self->answered() && !self->over()) {
    rest(self);
  } else {
    self->check_end();
  }
  co_return std::string();
}

task<void> resident_file_verb::finish(std::shared_ptr<resident_file_verb> self) {
  while (!self->over()) (void)co_await step(self, time_point::max());
  self->check_end();
}

task<void> resident_file_verb::write(std::shared_ptr<resident_file_verb> self, std::string bytes) {
  if (!self->reads_) co_return;
  try {
    auto writing = self->process_->write(std::move(bytes));
    co_await std::move(writing);
  } catch (const std::system_error& failure) {
    if (failure.code() != std::errc::broken_pipe) throw;
    self->reads_ = false;
  }
}

task<void> resident_file_verb::feed(std::shared_ptr<resident_file_verb> self, std::unique_ptr<byte_source> from,
                                    std::string first, bool ended) {
  std::string piece = std::move(first);
  while (self->reads_) {
    std::string head;
    if (!piece.empty()) wire::put_piece_header(head, piece.size());
    const bool joined = piece.size() < joined_size;
    if (joined) head += piece;
    if (ended) wire::put_piece_header(joined ? head : piece, 0);
    co_await write(self, std::move(head));
    if (!joined) co_await write(self, std::move(piece));
    if (ended) break;
    auto waiting = from->next();
    piece = co_await std::move(waiting);
    ended = piece.empty();
  }
  self->process_->close_stdin();
  co_await finish(self);
}

task<void> resident_file_verb::settle(std::shared_ptr<resident_file_verb> self) {
  if (!self->over()) self->process_->close_stdin();
  while (!self->over()) (void)co_await step(self, time_point::max());
}

void resident_file_verb::check_end() const {
  if (failure_) throw *failure_;
  if (done_ && *done_ == received_) return;
  throw error(make_error_code(errc::lost), "the resident's program for files ended without a word: " + ending_);
}

std::string resident_file_verb::take(process_event event) {
  if (auto* const piece = std::get_if<chunk>(&event)) {
    if (piece->stream() == output_stream::std_err) {
      answer(piece->bytes());
      return {};
    }
    received_ += piece->bytes().size();
    return std::move(*piece).bytes();
  }
  if (std::holds_alternative<streams_ended>(event)) streams_ended_ = true;
  if (const auto* const lost = std::get_if<process_lost>(&event)) {
    streams_ended_ = exited_ = true;
    failure_.emplace(make_error_code(errc::lost), lost->message);
  }
  if (const auto* const end = std::get_if<process_exited>(&event)) {
    exited_ = true;
    ending_ = describe(end->status);
    if (end->status.reason() == end_reason::start_failed)
      failure_.emplace(make_error_code(errc::start_failed), "the resident's program for files: " + ending_);
  }
  return {};
}

void resident_file_verb::answer(std::string_view bytes) {
  answers_ += bytes;
  wire::record_type type{};
  std::string_view fields;
  for (;;) {
    const auto what = wire::parse_record(answers_, type, fields);
    if (what == wire::parse_result::broken) fail_protocol();
    if (what == wire::parse_result::need_more) return;
    on_record(type, fields);
    answers_.erase(0, wire::record_header + fields.size());
  }
}

void resident_file_verb::on_record(wire::record_type type, std::string_view fields) {
  wire::reader in(fields);
  switch (type) {
    case wire::record_type::ready:
      ready_ = true;
      return;
    case wire::record_type::done:
      done_ = in.u64();
      break;
    case wire::record_type::failed: {
      wire::file_failure_fields why;
      if (!why.get(fields)) fail_protocol();
      failure_.emplace(resident_file_error(why));
      return;
    }
    case wire::record_type::skipped: {
      const std::string_view path = in.bytes();
      if (in.done() && skipped) skipped(std::string(path));
      break;
    }
    default:
      fail_protocol();
  }
  if (!in.done()) fail_protocol();
}

}  // namespace berth
