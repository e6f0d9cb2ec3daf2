/// A server that its command leaves, and its client.
///
/// `server`: leaves a process that listens on the loopback and says "pids P", "port N". To "say N" it prints N bytes, of which byte i
/// is i % 251, and answers "said"; to anything else it answers "pong".
/// `server ask PORT QUESTION`: prints the answer. Both end by themselves after some minutes.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr unsigned for_ever = 300;  // seconds

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "server: %s: %s\n", what, std::strerror(errno));
  _exit(99);
}

sockaddr_in loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

void print_pattern(long count) {
  for (long i = 0; i < count; ++i) std::putchar(static_cast<int>(i % 251));
  std::fflush(stdout);
}

[[noreturn]] void serve(int listener) {
  while (true) {
    const int peer = accept(listener, nullptr, nullptr);
    if (peer < 0) fail("accept");
    char line[64] = {};
    const ssize_t n = read(peer, line, sizeof line - 1);
    const bool asked = n > 4 && std::memcmp(line, "say ", 4) == 0;
    if (asked) print_pattern(std::atol(line + 4));
    if (write(peer, asked ? "said" : "pong", 4) != 4) fail("write");
    close(peer);
  }
}

int start() {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, any, size) != 0 || listen(listener, 16) != 0 || getsockname(listener, any, &size) != 0)
    fail("listen");
  const pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    alarm(for_ever);
    serve(listener);
  }
  std::printf("pids %d\nport %d\n", static_cast<int>(pid), ntohs(address.sin_port));
  return 0;
}

int ask(int port, const char* question) {
  alarm(for_ever);
  const sockaddr_in address = loopback(port);
  const int peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(peer, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("connect");
  if (write(peer, question, std::strlen(question)) < 0) fail("write");
  char answer[64];
  for (ssize_t n = 0; (n = read(peer, answer, sizeof answer)) > 0;) {
    std::fwrite(answer, 1, static_cast<std::size_t>(n), stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return start();
  if (argc == 4 && std::string(argv[1]) == "ask") return ask(std::atoi(argv[2]), argv[3]);
  return 97;
}
