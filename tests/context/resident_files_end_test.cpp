/// Files by commands of a resident: whatever ends them early, nothing half done is left.
#include "context/resident_files.hpp"

#include "contract/file_sources.hpp"
#include "host/process_backend.hpp"
#include "support/async.hpp"
#include "support/proc_scan.hpp"
#include "support/running.hpp"
#include "support/tar_entries.hpp"
#include "support/temp_dir.hpp"
#include "support/waiting.hpp"

#include <berth/error.hpp>

#include <csignal>
#include <filesystem>
#include <optional>

using namespace berth;
using namespace berth::test;
using namespace std::chrono_literals;

namespace fs = std::filesystem;

namespace {

struct world {
  static task<std::shared_ptr<world>> make(asio::io_context& io, resident_transport transport) {
    auto made = std::make_shared<world>();
    made->backend = make_process_backend(io.get_executor(), process_context_options(), transport);
    spawned_place spawned = co_await made->backend->spawn("1", spawn_options());
    made->place = spawned.place;
    command_starter start = [place = made->place](command what) { return place->start(std::move(what)); };
    made->files.emplace(std::move(start));
    co_return made;
  }

  std::shared_ptr<context_backend> backend;
  std::shared_ptr<backend_place> place;
  std::optional<resident_files> files;
};

std::size_t entries_in(const fs::path& directory) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

/// Our verbs that run now.
std::vector<pid_t> verbs(const std::string& path) {
  std::vector<pid_t> all;
  for (const process_info& each : all_processes()) {
    if (!each.dead() && proc_file(each.pid, "cmdline").find(path) != std::string::npos && each.pid != ::getpid())
      all.push_back(each.pid);
  }
  return all;
}

task<int> write_from(std::shared_ptr<world> at, std::string path, std::unique_ptr<byte_source> bytes) {
  co_await at->files->write(std::move(path), std::move(bytes), write_options());
  co_return 0;
}

task<int> unpack_from(std::shared_ptr<world> at, std::string path, std::unique_ptr<byte_source> tar) {
  co_await at->files->unpack(std::move(path), std::move(tar));
  co_return 0;
}

task<std::error_code> code_of(running<int>& work) {
  try {
    (void)co_await work.result();
  } catch (const std::system_error& caught) {
    co_return caught.code();
  }
  co_return std::error_code();
}

}  // namespace

ASYNC_TEST_FOR("resident files: a write cancelled at any time leaves the old file alone", 60s) {
  for (const auto transport : {resident_transport::handed, resident_transport::framed}) {
    const auto at = co_await world::make(io, transport);
    const temp_dir base;
    write_whole_file(base / "f", "old");
    for (int step = 0; step < 25; ++step) {
      auto source = std::make_unique<contract::stuck_source>(io.get_executor(), std::string(step * 150'000 + 1, 'x'));
      running<int> writing(io.get_executor(), write_from(at, base / "f", std::move(source)));
      co_await pause_for(std::chrono::microseconds(step * 400));
      writing.cancel();
      const std::error_code code = co_await code_of(writing);
      CHECK(is_cancelled(code));
      CHECK(read_whole_file(base / "f") == "old");
    }
    const auto empty = [&base] { return verbs(base.path()).empty(); };
    const bool gone = co_await becomes_true(empty);
    CHECK(gone);
    CHECK(entries_in(base.path()) == 1);
    co_await at->place->destroy();
  }
}

ASYNC_TEST_FOR("resident files: a cancelled unpacking leaves whole files only", 60s) {
  const auto at = co_await world::make(io, resident_transport::handed);
  const temp_dir base;
  const std::string tar = tar_entry_of('0', "a", "whole") + tar_entry_of('0', "b", std::string(3'000'000, 'b'));
  auto source = std::make_unique<contract::stuck_source>(io.get_executor(), tar.substr(0, 2'000'000));
  running<int> unpacking(io.get_executor(), unpack_from(at, base / "to", std::move(source)));
  const bool begun = co_await file_appears(base / "to/a");
  CHECK(begun);
  unpacking.cancel();
  const std::error_code code = co_await code_of(unpacking);
  CHECK(is_cancelled(code));
  CHECK(entries_in(base / "to") == 1);
  const auto empty = [&base] { return verbs(base.path()).empty(); };
  const bool gone = co_await becomes_true(empty);
  CHECK(gone);
  co_await at->place->destroy();
}

ASYNC_TEST_FOR("resident files: a program that is killed is an error, and leaves the old file", 30s) {
  for (const auto transport : {resident_transport::handed, resident_transport::framed}) {
    const auto at = co_await world::make(io, transport);
    const temp_dir base;
    write_whole_file(base / "f", "old");
    auto source = std::make_unique<contract::pattern_source>(std::uint64_t{1} << 33);
    running<int> writing(io.get_executor(), write_from(at, base / "f", std::move(source)));
    const auto runs = [&base] { return !verbs(base.path()).empty(); };
    const bool began = co_await becomes_true(runs);
    CHECK(began);
    for (const pid_t each : verbs(base.path())) ::kill(each, SIGKILL);
    const std::error_code code = co_await code_of(writing);
    CHECK(code == errc::lost);
    CHECK(read_whole_file(base / "f") == "old");
    CHECK(entries_in(base.path()) == 1);
    co_await at->place->destroy();
  }
}

ASYNC_TEST_FOR("resident files: a stream that is dropped ends its program", 30s) {
  const auto at = co_await world::make(io, resident_transport::handed);
  const temp_dir base;
  fs::create_directory(base / "d");
  write_whole_file(base / "d/f", std::string(8'000'000, 'x'));
  auto reading = co_await at->files->open(base / "d/f", read_options());
  const std::vector<std::string> nothing;
  const std::function<void(std::string)> nobody = [](const std::string&) {};
  auto packing = co_await at->files->pack(base / "d", nothing, nobody);
  (void)co_await reading->next();
  auto watching = co_await at->files->watch(base / "d", watch_options());
  CHECK(verbs(base.path()).size() == 2);  // that which reads was asked by its input
  reading.reset();
  packing.reset();
  watching.reset();
  const auto empty = [&base] { return verbs(base.path()).empty(); };
  const bool gone = co_await becomes_true(empty);
  CHECK(gone);
  co_await at->place->destroy();
}

ASYNC_TEST_FOR("resident files: what a lost place leaves unread is an error, not an end", 30s) {
  const auto at = co_await world::make(io, resident_transport::handed);
  const temp_dir base;
  write_whole_file(base / "f", std::string(8'000'000, 'x'));
  auto reading = co_await at->files->open(base / "f", read_options());
  co_await at->place->destroy();
  std::error_code code;
  try {
    while (true) {
      const std::string piece = co_await reading->next();
      if (piece.empty()) break;
    }
  } catch (const error& caught) {
    code = caught.code();
  }
  CHECK(code == errc::lost);
}

ASYNC_TEST_FOR("resident files: input without its end mark changes nothing", 30s) {
  const auto at = co_await world::make(io, resident_transport::handed);
  const temp_dir base;
  write_whole_file(base / "f", "old");
  const std::vector<std::string> inputs{"", "\3", std::string("\3\0\0\0", 4), std::string("\4\0\0\0ab", 6)};
  for (const std::string& input : inputs) {
    std::vector<std::string> words{wire::own_program, wire::file_word, wire::verb::write, "2", "-", "-", base / "f"};
    command program(std::move(words));
    program.cwd("/");
    program.input_stream();
    auto process = co_await at->place->start(std::move(program));
    co_await process->write(input);
    process->close_stdin();
    for (bool over = false; !over;) {
      const process_event event = co_await process->next(backend_process::time_point::max());
      const auto* const end = std::get_if<process_exited>(&event);
      over = end != nullptr;
      if (over) CHECK(end->status.code() == 1);
    }
    CHECK(read_whole_file(base / "f") == "old");
    CHECK(entries_in(base.path()) == 1);
  }
  co_await at->place->destroy();
}

ASYNC_TEST_FOR("resident files: many at once each have their own", 60s) {
  const auto at = co_await world::make(io, resident_transport::handed);
  const temp_dir base;
  std::vector<running<int>> all;
  for (int i = 0; i < 40; ++i) {
    auto source = make_byte_source(std::string(static_cast<std::size_t>(i) * 10'000, static_cast<char>('a' + i % 26)));
    all.emplace_back(io.get_executor(), write_from(at, base / std::to_string(i), std::move(source)));
  }
  for (auto& each : all) {
    const std::error_code code = co_await code_of(each);
    CHECK_FALSE(code);
  }
  for (int i = 0; i < 40; ++i) {
    auto from = co_await at->files->open(base / std::to_string(i), read_options());
    const std::string bytes = co_await contract::drain(std::move(from));
    CHECK(bytes == std::string(static_cast<std::size_t>(i) * 10'000, static_cast<char>('a' + i % 26)));
  }
  co_await at->place->destroy();
}
