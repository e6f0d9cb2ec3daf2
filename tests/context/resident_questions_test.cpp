/// Files by commands of a resident: what only looks is answered by a program that stays.
#include "context/resident_files.hpp"

#include "host/process_backend.hpp"
#include "support/async.hpp"
#include "support/proc_scan.hpp"
#include "support/running.hpp"
#include "support/temp_dir.hpp"
#include "support/waiting.hpp"

#include <berth/error.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>

using namespace berth;
using namespace berth::test;

namespace {

struct questioned_place {
  static task<std::shared_ptr<questioned_place>> make(asio::io_context& io, resident_transport transport) {
    auto made = std::make_shared<questioned_place>();
    made->backend = make_process_backend(io.get_executor(), process_context_options(), transport);
    spawned_place spawned = co_await made->backend->spawn("1", spawn_options());
    made->place = spawned.place;
    made->start = [place = made->place, count = made->started](command what) {
      ++*count;
      return place->start(std::move(what));
    };
    made->files.emplace(made->start);
    co_return made;
  }

  std::shared_ptr<context_backend> backend;
  std::shared_ptr<backend_place> place;
  std::shared_ptr<int> started = std::make_shared<int>(0);
  command_starter start;
  std::optional<resident_files> files;
};

constexpr resident_transport both_ways[] = {resident_transport::handed, resident_transport::framed};

task<std::string> whole(std::shared_ptr<questioned_place> at, std::string path) {
  const auto source = co_await at->files->open(std::move(path), read_options());
  std::string all;
  for (;;) {
    const std::string piece = co_await source->next();
    if (piece.empty()) break;
    all += piece;
  }
  co_return all;
}

/// Grandchildren of ours: the children of residents.
std::vector<pid_t> answering() {
  std::vector<pid_t> residents;
  for (const process_info& each : all_processes()) {
    if (each.parent == ::getpid()) residents.push_back(each.pid);
  }
  std::vector<pid_t> found;
  for (const process_info& each : all_processes()) {
    const bool is_ours = std::find(residents.begin(), residents.end(), each.parent) != residents.end();
    if (is_ours && !each.dead() && proc_file(each.pid, "cmdline").ends_with(std::string("\0serve\0", 7)))
      found.push_back(each.pid);
  }
  return found;
}

task<std::error_code> refusal_of(task<std::string> work) {
  try {
    (void)co_await std::move(work);
  } catch (const error& caught) {
    co_return caught.code();
  }
  co_return std::error_code();
}

/// To a program that answers; its whole answer.
task<std::string> ask_raw(std::shared_ptr<questioned_place> at, std::string bytes) {
  std::vector<std::string> words{wire::verb::serve};
  const auto asked = co_await resident_file_verb::start(at->start, std::move(words), resident_file_verb::takes::input);
  co_await resident_file_verb::write(asked, std::move(bytes));
  co_await resident_file_verb::settle(asked);
  asked->check_end();
  co_return std::string();
}

std::string question(std::string_view words) {
  std::string bytes;
  wire::put_piece_header(bytes, words.size());
  return bytes.append(words);
}

}  // namespace

ASYNC_TEST("resident files: one program after another's question, until one fails") {
  for (const auto transport : both_ways) {
    const auto at = co_await questioned_place::make(io, transport);
    const temp_dir base;
    const std::string large(3'000'000, 'l');
    write_whole_file(base / "small", "some");
    write_whole_file(base / "large", large);
    write_whole_file(base / "empty", "");
    for (int i = 0; i < 3; ++i) {
      CHECK(co_await whole(at, base / "small") == "some");
      CHECK(co_await whole(at, base / "large") == large);
      CHECK(co_await whole(at, base / "empty") == "");
      const file_info about = co_await at->files->stat(base / "small");
      CHECK(about.size() == 4);
      const auto all = co_await at->files->list(base.path(), list_options());
      CHECK(all.size() == 3);
    }
    CHECK(*at->started == 1);
    auto missing = whole(at, base / "missing");
    const std::error_code code = co_await refusal_of(std::move(missing));
    CHECK(code == std::errc::no_such_file_or_directory);
    CHECK(co_await whole(at, base / "small") == "some");
    CHECK(*at->started == 2);
    co_await at->place->destroy();
  }
}

ASYNC_TEST("resident files: a program that went while it rested is not missed") {
  for (const auto transport : both_ways) {
    const auto at = co_await questioned_place::make(io, transport);
    const temp_dir base;
    write_whole_file(base / "f", "some");
    for (int i = 0; i < 20; ++i) {
      CHECK(co_await whole(at, base / "f") == "some");
      const auto rests = [] { return answering().size() == 1; };
      const bool one = co_await becomes_true(rests);
      CHECK(one);
      for (const pid_t each : answering()) ::kill(each, i % 2 == 0 ? SIGKILL : SIGTERM);
      if (i % 3 == 0) co_await pause_for(std::chrono::milliseconds(5));
    }
    CHECK(*at->started == 20);
    co_await at->place->destroy();
  }
}

ASYNC_TEST("resident files: questions at the same time get each their own answer") {
  for (const auto transport : both_ways) {
    const auto at = co_await questioned_place::make(io, transport);
    const temp_dir base;
    for (int i = 0; i < 12; ++i)
      write_whole_file(base / std::to_string(i), std::string(100'000, static_cast<char>('a' + i)));
    for (int round = 0; round < 3; ++round) {
      std::vector<std::unique_ptr<running<std::string>>> all;
      for (int i = 0; i < 12; ++i) {
        auto reading = whole(at, base / std::to_string(i));
        all.push_back(std::make_unique<running<std::string>>(io.get_executor(), std::move(reading)));
      }
      for (int i = 0; i < 12; ++i) {
        const std::string got = co_await all[static_cast<std::size_t>(i)]->result();
        CHECK(got == std::string(100'000, static_cast<char>('a' + i)));
      }
    }
    const auto few = [] { return answering().size() == resting_verbs::most; };
    const bool rest = co_await becomes_true(few);
    CHECK(rest);
    co_await at->place->destroy();
  }
}

ASYNC_TEST("resident files: an answer that is left, or asked for once more, is nobody else's") {
  for (const auto transport : both_ways) {
    const auto at = co_await questioned_place::make(io, transport);
    const temp_dir base;
    write_whole_file(base / "large", std::string(3'000'000, 'l'));
    write_whole_file(base / "small", "some");
    auto left = co_await at->files->open(base / "large", read_options());
    (void)co_await left->next();
    left.reset();
    const auto gone = [] { return answering().empty(); };
    const bool ended_early = co_await becomes_true(gone);
    CHECK(ended_early);
    CHECK(co_await whole(at, base / "small") == "some");
    auto ended = co_await at->files->open(base / "small", read_options());
    while (!(co_await ended->next()).empty()) continue;
    auto other = co_await at->files->open(base / "large", read_options());
    CHECK((co_await ended->next()).empty());
    std::size_t size = 0;
    for (;;) {
      const std::string piece = co_await other->next();
      if (piece.empty()) break;
      size += piece.size();
    }
    CHECK(size == 3'000'000);
    co_await at->place->destroy();
  }
}

ASYNC_TEST("resident files: what is no question is refused, and changes nothing") {
  const auto at = co_await questioned_place::make(io, resident_transport::handed);
  const temp_dir base;
  write_whole_file(base / "f", "some");
  const std::string path = base / "f";
  const std::string nul(1, '\0');
  for (const std::string& bytes :
       {question(""), std::string("\xff\xff\xff\xff", 4), question("read"), question("read" + nul),
        question("remove" + nul + "0" + nul + path + nul), question("serve" + nul),
        question(nul + nul + nul + nul + nul), question("read" + nul + "0" + nul + "x" + nul + path + nul),
        question("stat" + nul + path)}) {
    CAPTURE(bytes);
    auto asking = ask_raw(at, bytes);
    const std::error_code code = co_await refusal_of(std::move(asking));
    CHECK(code == errc::protocol);
  }
  CHECK(co_await whole(at, path) == "some");
  co_await at->place->destroy();
}
