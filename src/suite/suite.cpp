#include "suite/suite.hpp"

#include "suite/floor.hpp"

#include <iterator>
#include <utility>

namespace berth::suite {

subjects whole_suite(asio::io_context& io, const shared_site& site) {
  subjects all;
  const auto add = [&all](subjects some) {
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  };
  for (const auto suite :
       {exec_suite, loop_suite, stream_suite, pty_suite, memory_suite, kill_suite, file_suite, isolated_suite}) {
    add(suite(io));
  }
  add(docker_suite(io, site));
  return all;
}

std::vector<std::string> worker_words(std::string what, std::string argument) {
  std::vector<std::string> words = {own_path(), "bench", std::string(worker_word), std::move(what)};
  if (!argument.empty()) words.push_back(std::move(argument));
  return words;
}

std::vector<std::string> zeros_words(std::size_t bytes) {
  constexpr std::size_t block = std::size_t{128} << 10;
  return {"dd", "if=/dev/zero", "bs=" + std::to_string(block), "count=" + std::to_string(bytes / block)};
}

}  // namespace berth::suite
