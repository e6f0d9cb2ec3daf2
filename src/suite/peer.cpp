#include "suite/peer.hpp"

#include "core/deadline.hpp"

#include <berth/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace berth::suite {
namespace {

constexpr std::size_t longest_line = 1000;
constexpr std::size_t most_complaints = 300;

/// Text of the peer's as a part of one line.
std::string on_one_line(std::string text) {
  text.resize(std::min(text.size(), most_complaints));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace_if(
      text.begin(), text.end(), [](unsigned char each) { return each < ' ' || each == 0x7f; }, ' ');
  return text;
}

void take(peer& its, const chunk& piece) {
  if (piece.stream() == output_stream::std_out) {
    its.unread += piece.bytes();
    return;
  }
  its.complaints += piece.bytes();
  if (its.complaints.size() > most_complaints) its.complaints.erase(0, its.complaints.size() - most_complaints);
}

task<std::string> next_line(shared_peer its) {
  for (;;) {
    const auto end = its->unread.find('\n');
    if (end != std::string::npos || its->unread.size() > longest_line) {
      std::string line = its->unread.substr(0, end);
      its->unread.erase(0, end == std::string::npos ? end : end + 1);
      co_return line;
    }
    const auto piece = co_await its->running.next();
    if (!piece) break;
    take(*its, *piece);
  }
  its->failure = "it has ended: " + describe(*its->running.status());
  if (!its->complaints.empty()) its->failure += ": " + on_one_line(its->complaints);
  throw std::runtime_error(its->failure);
}

/// A peer that has gone is told of by what comes after its last word.
task<void> write_request(shared_peer its, std::string request) {
  try {
    co_await its->running.write(std::move(request));
  } catch (const std::system_error& failure) {
    if (failure.code() != std::errc::broken_pipe) throw;
  }
}

task<std::string> exchange(shared_peer its, std::string request) {
  if (!request.empty()) co_await write_request(its, std::move(request));
  auto line = co_await next_line(its);
  co_return line;
}

/// No more of this one.
[[noreturn]] void give_up(peer& its, std::string failure) {
  its.running = process();
  its.failure = std::move(failure);
  throw std::runtime_error(its.failure);
}

task<std::string> answer_to(shared_peer its, std::string request) {
  auto work = exchange(its, std::move(request));
  try {
    auto line = co_await with_deadline(std::move(work), its->patience);
    co_return line;
  } catch (const error& failure) {
    if (failure.code() != errc::timeout) throw;
  }
  give_up(*its, fmt::format("it was silent for {} s", static_cast<double>(its->patience.count()) / 1000));
}

/// What stands behind this word.
std::optional<std::string> behind(const std::string& word, const std::string& line) {
  if (!line.starts_with(word + ' ')) return std::nullopt;
  return line.substr(word.size() + 1);
}

std::int64_t number_in(const std::string& text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? number : 0;
}

}  // namespace

task<void> open_peer(shared_peer its) {
  its->unread.clear();
  its->complaints.clear();
  its->failure = "it did not start";
  co_await open_place(its->warm);
  context place = *its->warm->place;
  auto what = command(its->program.run).cwd(its->program.folder).input_stream();
  for (const auto& [name, value] : its->env) what.env(name, value);
  its->running = co_await place.exec_stream(its->warm->where, std::move(what));
  const auto line = co_await answer_to(its, "");
  if (const auto told = behind("error", line)) give_up(*its, on_one_line(*told));
  const auto version = behind("peer", line);
  if (!version) give_up(*its, "it greets with rubbish: " + on_one_line(line));
  its->version = on_one_line(*version);
  its->failure.clear();
}

task<double> ask_peer(shared_peer its, std::string request) {
  if (!its->failure.empty()) throw std::runtime_error(its->failure);
  if (!its->unread.empty()) give_up(*its, "it talks unasked: " + on_one_line(its->unread));
  const auto line = co_await answer_to(its, std::move(request) + '\n');
  if (const auto told = behind("error", line)) throw std::runtime_error(on_one_line(*told));
  const auto nanoseconds = number_in(behind("ok", line).value_or(""));
  if (nanoseconds <= 0) give_up(*its, "it answers rubbish: " + on_one_line(line));
  co_return static_cast<double>(nanoseconds) / 1000;
}

task<void> close_peer(shared_peer its) {
  its->running = process();
  co_await close_place(its->warm);
}

}  // namespace berth::suite
