#include "docker/ssh_dial.hpp"

#include "berth/error.hpp"
#include "core/syscall.hpp"
#include "core/text.hpp"
#include "os/helper_process.hpp"
#include "os/pipe_write.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

namespace berth {
namespace {

/// Ends with the connection that it carries.
class ssh_child {
 public:
  explicit ssh_child(helper_process process) : process_(std::move(process)) {}
  ssh_child(const ssh_child&) = delete;
  ssh_child& operator=(const ssh_child&) = delete;
  ~ssh_child() {
    process_.kill(SIGKILL);
    process_.wait_blocking(std::chrono::seconds(1));
  }

 private:
  helper_process process_;
};

std::string find_ssh() {
  const char* value = std::getenv("PATH");
  const std::string path = value != nullptr ? value : "/usr/bin:/bin";
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    const std::string candidate = path.substr(at, end - at) + "/ssh";
    if (candidate.front() == '/' && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    at = end + 1;
  }
  throw error(make_error_code(errc::not_found), "ssh is not installed, and the daemon is behind it");
}

struct pipe_ends {
  unique_fd read;
  unique_fd write;
};

pipe_ends make_pipe(int flags = O_CLOEXEC) {
  int ends[2];
  check_syscall(::pipe2(ends, flags), "a pipe to ssh");
  pipe_ends made;
  made.read = unique_fd(ends[0]);
  made.write = unique_fd(ends[1]);
  return made;
}

task<http::stream_ptr> dial(asio::any_io_executor executor, std::vector<std::string> words,
                            std::shared_ptr<ssh_voice> voice) {
  const std::string program = find_ssh();
  pipe_ends to = make_pipe();
  pipe_ends from = make_pipe();
  const unique_fd says = voice->begin();
  helper_options options;
  options.argv = std::move(words);
  options.fds = {placed_fd{to.read.get(), 0}, placed_fd{from.write.get(), 1}, placed_fd{says.get(), 2}};
  auto child = std::make_shared<ssh_child>(helper_process::start(program, options));
  co_return http::make_stdio_stream(std::move(executor), from.read.release(), to.write.release(), write_no_sigpipe,
                                    std::move(child));
}

void check_word(const std::string& word, const char* what) {
  if (word.empty() || word.starts_with('-') || word.find_first_of(" \t\r\n") != word.npos)
    throw error(make_error_code(errc::invalid_argument), std::string("ssh: this cannot be a ") + what);
}

}  // namespace

std::vector<std::string> ssh_words(const http::url& where) {
  check_word(where.host, "host");
  std::vector<std::string> words{"ssh", "-o", "ConnectTimeout=30", "-T"};
  if (where.user) {
    check_word(*where.user, "user");
    words.insert(words.end(), {"-l", *where.user});
  }
  if (where.port != 0) words.insert(words.end(), {"-p", std::to_string(where.port)});
  words.insert(words.end(), {"--", where.host, "docker"});
  // ssh joins its words for a shell on the other side.
  if (where.path.size() > 1) words.push_back(shell_quote("--host=unix://" + where.path));
  words.insert(words.end(), {"system", "dial-stdio"});
  return words;
}

unique_fd ssh_voice::begin() {
  pipe_ends ends = make_pipe(O_CLOEXEC | O_NONBLOCK);  // nobody reads before it has failed
  heard_ = std::move(ends.read);
  return std::move(ends.write);
}

std::string ssh_voice::words() {
  constexpr std::size_t most = 500;
  std::string said(most, '\0');
  const ssize_t got = heard_ ? ::read(heard_.get(), said.data(), said.size()) : 0;
  said.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  std::replace_if(
      said.begin(), said.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return to_text(trimmed(said));
}

http::dialer ssh_dialer(asio::any_io_executor executor, const http::url& where, std::shared_ptr<ssh_voice> voice) {
  auto words = ssh_words(where);
  return [executor = std::move(executor), words = std::move(words), voice = std::move(voice)] {
    return dial(executor, words, voice);
  };
}

}  // namespace berth
