#include "suite/suite.hpp"

#include "suite/floor.hpp"

#include <iterator>
#include <utility>

namespace berth::suite {

subjects whole_suite(asio::io_context& io) {
  subjects all;
  for (const auto suite :
       {exec_suite, loop_suite, stream_suite, pty_suite, memory_suite, kill_suite, file_suite, isolated_suite}) {
    subjects some = suite(io);
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  return all;
}

std::vector<std::string> worker_words(std::string what, std::string argument) {
  std::vector<std::string> words = {own_path(), "bench", std::string(worker_word), std::move(what)};
  if (!argument.empty()) words.push_back(std::move(argument));
  return words;
}

}  // namespace berth::suite
