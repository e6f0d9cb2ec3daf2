/// Waiting for what a kept command prints, or for a port that it listens on.
#include "context/kept_command.hpp"
#include "context/output_search.hpp"

#include <berth/error.hpp>

#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace berth {
namespace {

using clock = kept_command::clock;
using namespace std::chrono_literals;

/// So long may a search go on before others have their turn.
constexpr auto slice = 2ms;
/// An unfinished line that is longer is not looked at again for each byte, but this often.
constexpr std::size_t short_rest = 256;
constexpr auto rest_pause = 20ms;

constexpr auto first_poll = 50ms;
constexpr auto longest_poll = 250ms;
constexpr auto leftovers_take = 2s;

clock::time_point in(std::chrono::milliseconds time) {
  const auto now = clock::now();
  if (time <= 0ms) return now;
  const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(clock::time_point::max() - now);
  return time >= most ? clock::time_point::max() : now + time;
}

/// A search through both logs.
class output_hunt {
 public:
  explicit output_hunt(const output_pattern& what)
      : out_(output_stream::std_out, what), err_(output_stream::std_err, what) {}

  /// Looks at what is there; false if there is more of it than could be looked at in one go.
  bool look(const kept_command& at) {
    const bool all_out = look(out_, at, clock::now() + slice);
    const bool all_err = look(err_, at, clock::now() + slice);
    return all_out && all_err;
  }

  /// Looks at unfinished lines: `all`, or those that may be looked at now. Says when to come again.
  clock::time_point look_at_rests(bool all) { return std::min(look_at_rest(out_, all), look_at_rest(err_, all)); }

  std::optional<output_match> match() const {
    for (const auto* each : {&out_, &err_}) {
      const auto& found = each->search.match();
      if (found) return output_match(each->stream, found->offset, found->text);
    }
    return std::nullopt;
  }

 private:
  struct one {
    one(output_stream of, const output_pattern& what) : stream(of), search(what), next(what.begin(of)) {}
    output_stream stream;
    output_search search;
    std::uint64_t next;
    clock::time_point rest_due{};
  };

  static bool look(one& at, const kept_command& in, clock::time_point until) {
    constexpr std::size_t piece_size = std::size_t{64} << 10;
    while (!at.search.match()) {
      const log_piece piece = in.log(at.stream).read(at.next, piece_size);
      if (piece.bytes().empty()) return true;
      at.next = piece.offset();
      std::string_view bytes = piece.bytes();
      while (!bytes.empty() && !at.search.match()) {
        const std::size_t taken = at.search.take(bytes, at.next);
        bytes.remove_prefix(taken);
        at.next += taken;
        if (clock::now() >= until) return false;
      }
    }
    return true;
  }

  static clock::time_point look_at_rest(one& at, bool all) {
    if (at.search.rest() == 0) return clock::time_point::max();
    const auto now = clock::now();
    if (!all && at.search.rest() > short_rest && now < at.rest_due) return at.rest_due;
    at.search.look_at_rest();
    at.rest_due = now + rest_pause;
    return clock::time_point::max();
  }

  one out_;
  one err_;
};

/// What a command left running may have been about to listen.
bool may_listen(const kept_command& at) {
  const auto& status = at.status();
  if (!status) return true;
  const bool by_itself = status->reason() == end_reason::exited || status->reason() == end_reason::signaled;
  return by_itself && clock::now() < at.ended_at() + leftovers_take;
}

/// A place that is destroyed meanwhile is no failure of who waits.
task<bool> listens(std::shared_ptr<kept_command> at, std::uint16_t port) {
  try {
    const auto open = co_await kept_command::ports(at);
    co_return std::find(open.begin(), open.end(), port) != open.end();
  } catch (const std::system_error& caught) {
    if (caught.code() != errc::lost) throw;
  }
  // The end is on its way.
  co_await kept_command::wait(at);
  co_return false;
}

}  // namespace

task<std::optional<output_match>> kept_command::wait_for_output(std::shared_ptr<kept_command> self,
                                                                output_pattern pattern,
                                                                std::chrono::milliseconds deadline) {
  const auto until = in(deadline);
  const auto hunt = std::make_shared<output_hunt>(pattern);
  for (;;) {
    const bool seen_all = hunt->look(*self);
    const bool last = clock::now() >= until || (seen_all && self->status_);
    // What comes next may be there already, and the line is another with it.
    const auto again = seen_all ? hunt->look_at_rests(last) : until;
    auto match = hunt->match();
    if (match || last) co_return match;
    if (seen_all) {
      (void)co_await self->changed_.wait_until(std::min(until, again));
    } else {
      co_await asio::post(self->executor_, asio::use_awaitable);
    }
  }
}

task<bool> kept_command::wait_for_port(std::shared_ptr<kept_command> self, std::uint16_t port,
                                       std::chrono::milliseconds deadline) {
  const auto until = in(deadline);
  event pause(self->executor_);
  clock::duration time = first_poll;
  while (may_listen(*self)) {
    const bool found = co_await listens(self, port);
    if (found) co_return true;
    const auto now = clock::now();
    if (now >= until) co_return false;
    (void)co_await pause.wait_until(std::min(until, now + time));
    time = std::min<clock::duration>(time * 5 / 4, longest_poll);
  }
  co_return false;
}

}  // namespace berth
