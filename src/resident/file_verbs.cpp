#include "resident/file_verbs.hpp"

#include "resident/file_answer.hpp"
#include "resident/file_paths.hpp"
#include "resident/fresh_file.hpp"

#include <poll.h>
#include <sys/resource.h>

namespace berth::resident {
namespace {

/// Decimal digits and nothing else.
std::uint64_t number_of(const char* word, std::uint64_t most = ~std::uint64_t{0}) {
  std::uint64_t value = 0;
  const char* at = word;
  for (; *at >= '0' && *at <= '9'; ++at) {
    const auto digit = static_cast<std::uint64_t>(*at - '0');
    if (value > (most - digit) / 10) refuse(file_reason::request, 0);
    value = value * 10 + digit;
  }
  if (*at != '\0' || at == word) refuse(file_reason::request, 0);
  return value;
}

bool is_given(const char* word) { return strcmp(word, wire::not_given) != 0; }

void write(char** words) {
  constexpr std::uint64_t all_flags = wire::write_absent | wire::write_parents | wire::write_durable;
  const auto flags = static_cast<std::uint32_t>(number_of(words[0], all_flags));
  const int mode = is_given(words[1]) ? static_cast<int>(number_of(words[1], 0777)) : -1;
  write_file(words[3], flags, mode, is_given(words[2]) ? words[2] : nullptr);
}

/// Those that change nothing; false if it is another.
bool run_looking(std::string_view name, int count, char** words) {
  if (name == wire::verb::stat && count == 1) {
    stat_path(words[0]);
  } else if (name == wire::verb::list && count == 2) {
    list_tree(words[1], number_of(words[0]));
  } else if (name == wire::verb::read && count == 3) {
    read_file(words[2], number_of(words[0]), number_of(words[1]));
  } else {
    return false;
  }
  return true;
}

/// The whole of it. At the end of the input nobody asks any more.
void read_question(char* into, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(0, into, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) _exit(0);
    into += got;
    size -= static_cast<std::size_t>(got);
  }
}

bool question_comes() {
  pollfd input{0, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&input, 1, wire::serve_idle_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

void answer_question() {
  constexpr int most_words = 4;
  char header[wire::piece_header];
  read_question(header, sizeof header);
  wire::reader in(std::string_view(header, sizeof header));
  const std::size_t size = in.u32();
  if (size == 0 || size > wire::max_question) refuse(file_reason::request, 0);
  const block question(size);
  read_question(question.data(), size);
  char* words[most_words] = {};
  int count = 0;
  for (char* at = question.data(); at < question.data() + size; at += strlen(at) + 1) {
    if (count == most_words || question.data()[size - 1] != '\0') refuse(file_reason::request, 0);
    words[count++] = at;
  }
  if (!run_looking(words[0], count - 1, words + 1)) refuse(file_reason::request, 0);
}

void run(std::string_view name, int count, char** words) {
  const auto is = [&](const char* wanted, int least, int most) {
    return name == wanted && count >= least && count <= most;
  };
  if (run_looking(name, count, words)) return;
  if (is(wire::verb::remove, 2, 2)) return remove_path(words[1], number_of(words[0], 1) != 0);
  if (is(wire::verb::rename, 2, 2)) return rename_path(words[0], words[1]);
  if (is(wire::verb::write, 4, 4)) return write(words);
  if (is(wire::verb::pack, 1, count)) return pack_tree(words[0], words + 1, count - 1);
  if (is(wire::verb::unpack, 1, 1)) return unpack_tree(words[0]);
  if (is(wire::verb::serve, 0, 0)) {
    while (question_comes()) answer_question();
    return;
  }
  if (is(wire::verb::watch, 2, 2)) return watch_path(words[1], number_of(words[0], 1) != 0);
  if (!is(wire::verb::make, 1, 1)) refuse(file_reason::request, 0);
  make_directories(words[0]);
  answer_done();
}

/// A deep tree takes a descriptor for each level.
void raise_open_files() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

int run_file_verb(int count, char** words) {
  raise_open_files();
  watch_signals();
  if (count == 0) refuse(file_reason::request, 0);
  run(words[0], count - 1, words + 1);
  return 0;
}

}  // namespace berth::resident
