#include "worker.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <system_error>

namespace berth::bench {
namespace {

struct reply {
  double value = 0;
  char failure[200] = "";
};

reply answer(const std::function<sampler()>& prepare, sampler& made) {
  reply answered;
  try {
    if (!made) made = prepare();
    answered.value = made();
  } catch (const std::exception& failure) {
    std::strncpy(answered.failure, failure.what(), sizeof answered.failure - 1);
    if (answered.failure[0] == '\0') std::strcpy(answered.failure, "failed");
  }
  return answered;
}

/// Until the other end is closed.
void serve(int socket, const std::function<sampler()>& prepare) {
  sampler made;
  char request = 0;
  while (::read(socket, &request, 1) == 1) {
    const reply answered = answer(prepare, made);
    if (::send(socket, &answered, sizeof answered, MSG_NOSIGNAL) != sizeof answered) return;
  }
}

}  // namespace

worker::worker(std::function<sampler()> prepare) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  pid_ = ::fork();
  if (pid_ == 0) {
    ::close(ends[0]);
    serve(ends[1], prepare);
    std::exit(0);
  }
  ::close(ends[1]);
  socket_ = ends[0];
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
}

worker::~worker() {
  ::close(socket_);
  ::waitpid(pid_, nullptr, 0);
}

double worker::sample() {
  const char request = 1;
  reply answered;
  if (::send(socket_, &request, 1, MSG_NOSIGNAL) != 1 ||
      ::recv(socket_, &answered, sizeof answered, 0) != sizeof answered) {
    throw std::runtime_error("the worker is gone");
  }
  if (answered.failure[0] != '\0') throw std::runtime_error(answered.failure);
  return answered.value;
}

}  // namespace berth::bench
