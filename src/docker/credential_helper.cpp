#include "docker/credential_helper.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"
#include "core/shown_path.hpp"
#include "core/syscall.hpp"
#include "core/text.hpp"
#include "os/helper_process.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace berth {
namespace {

/// A stream of a helper as a file in memory: there is nothing to pump.
unique_fd memory_stream(std::string_view content) {
  unique_fd fd(check_syscall(::memfd_create("credential-helper", MFD_CLOEXEC), "memory for a credential helper"));
  while (!content.empty()) {
    const auto size =
        check_syscall(::write(fd.get(), content.data(), content.size()), "memory for a credential helper");
    content.remove_prefix(static_cast<std::size_t>(size));
  }
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

std::string content_of(const unique_fd& fd) {
  std::string text(std::size_t{64} << 10, '\0');
  const auto size = ::pread(fd.get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

/// However the wait for it ends.
class ended_helper {
 public:
  explicit ended_helper(helper_process process) : process_(std::move(process)) {}
  ended_helper(const ended_helper&) = delete;
  ended_helper& operator=(const ended_helper&) = delete;
  ~ended_helper() {
    if (process_.status()) return;
    process_.kill(SIGKILL);
    process_.wait_blocking(std::chrono::seconds(1));
  }
  task<int> wait() const { return process_.wait(); }

 private:
  helper_process process_;
};

[[noreturn]] void fail_with_output(const std::string& program, int status, const std::string& output) {
  constexpr std::size_t longest = 200;
  const std::string text = to_text(output.substr(0, utf8_floor(output, longest)));
  throw error(make_error_code(errc::unavailable),
              shown_path(program) + " " + describe_wait_status(status) + (text.empty() ? "" : ": " + text), output);
}

}  // namespace

std::string find_credential_helper(const std::string& name, const std::string& path) {
  if (name.empty() || name.find('/') != name.npos) return {};
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    const std::string candidate = path.substr(at, end - at) + "/docker-credential-" + name;
    struct stat about {};
    const bool is_program = candidate.starts_with('/') && ::stat(candidate.c_str(), &about) == 0 &&
                            S_ISREG(about.st_mode) && ::access(candidate.c_str(), X_OK) == 0;
    if (is_program) return candidate;
    at = end + 1;
  }
  return {};
}

task<std::optional<registry_login>> ask_credential_helper(std::string program, std::string server,
                                                          std::chrono::milliseconds time) {
  const unique_fd question = memory_stream(server);
  const unique_fd answer = memory_stream({});
  helper_options options;
  options.argv = {program, "get"};
  options.fds = {placed_fd{question.get(), 0}, placed_fd{answer.get(), 1}};
  const ended_helper helper(helper_process::start(program, options));
  auto waiting = helper.wait();
  auto bounded = with_deadline(std::move(waiting), time);
  const int status = co_await std::move(bounded);
  const std::string output = content_of(answer);
  std::optional<registry_login> login;
  if (status == 0) {
    login = read_helper_answer(output);
  } else if (!says_not_found(output)) {
    fail_with_output(program, status, output);
  }
  co_return login;
}

}  // namespace berth
