/// A program that uses the library, for tests that kill it: `file_writer PATH` replaces the file again and again, in three ways at
/// once, and says "ready" after the first time. Its contents are those that soak/file_rounds.cpp knows.
#include <berth/process_context.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace {

using namespace berth;

/// A head that says how many letters follow.
std::string content(unsigned number) {
  const auto letter = static_cast<char>('a' + number % 26);
  const std::size_t size = 1 + (number * 7919U) % 300'000;
  return letter + std::to_string(size) + "\n" + std::string(size, letter);
}

class two_pieces final : public byte_source {
 public:
  explicit two_pieces(std::string bytes) : bytes_(std::move(bytes)) {}
  task<std::string> next() override {
    const auto half = bytes_.size() > 1000 ? bytes_.size() / 2 : bytes_.size();
    auto piece = bytes_.substr(0, half);
    bytes_.erase(0, half);
    return give(std::move(piece));
  }

 private:
  static task<std::string> give(std::string bytes) { co_return bytes; }
  std::string bytes_;
};

task<void> write_plain(context place, handle where, std::string path, unsigned number) {
  for (;; number += 3) co_await place.write_file(where, path, content(number));
}

task<void> write_streamed(context place, handle where, std::string path, unsigned number) {
  for (;; number += 3) {
    std::unique_ptr<byte_source> bytes = std::make_unique<two_pieces>(content(number));
    co_await place.write_file(where, path, std::move(bytes));
  }
}

task<void> write_expecting(context place, handle where, std::string path, unsigned number) {
  for (;; number += 3) {
    const std::string old = co_await place.read_file(where, path);
    try {
      co_await place.write_file(where, path, content(number), write_options().expect_hash(content_hash(old)));
    } catch (const std::system_error&) {  // another was first
    }
  }
}

void stop(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

task<void> run(asio::io_context& io, std::string path) {
  context place = make_process_context(io);
  const handle where = co_await place.spawn();
  co_await place.write_file(where, path, content(1));
  std::puts("ready");
  std::fflush(stdout);
  asio::co_spawn(io, write_plain(place, where, path, 2), stop);
  asio::co_spawn(io, write_streamed(place, where, path, 3), stop);
  asio::co_spawn(io, write_expecting(place, where, path, 4), stop);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  asio::io_context io(1);
  asio::co_spawn(io, run(io, argv[1]), stop);
  io.run();
}
