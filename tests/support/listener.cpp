/// A process that listens on TCP ports of the loopback: `listener [6] [HOW]`, in any order.
///
/// It says "ports P ..." (none where the address family is missing), and after each line that it reads closes one of them and says
/// "closed"; at the end of its input it waits. HOW is one of: here (default), two (ports), child (a grandchild holds it), session (in a
/// session of its own too), left (and the first process exits), many COUNT (so many idle processes beside).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr unsigned for_ever = 300;  // seconds

int listen_on(bool v6, int& port) {
  const int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return -1;
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_loopback;
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* address = v6 ? reinterpret_cast<sockaddr*>(&six) : reinterpret_cast<sockaddr*>(&four);
  socklen_t size = v6 ? sizeof six : sizeof four;
  if (bind(fd, address, size) != 0 || listen(fd, 4) != 0) return -1;
  getsockname(fd, reinterpret_cast<sockaddr*>(v6 ? static_cast<void*>(&six) : &four), &size);
  port = ntohs(v6 ? six.sin6_port : four.sin_port);
  return fd;
}

void serve(std::vector<int> sockets) {
  char line[256];
  while (!sockets.empty() && std::fgets(line, sizeof line, stdin) != nullptr) {
    close(sockets.back());
    sockets.pop_back();
    std::puts("closed");
  }
  for (unsigned left = for_ever; left > 0;) left = sleep(left);
}

}  // namespace

int main(int argc, char** argv) {
  bool v6 = false;
  int idle = 0;
  std::string how = "here";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "6")
      v6 = true;
    else if (how == "many")
      idle = std::atoi(argv[i]);
    else
      how = word;
  }
  setvbuf(stdout, nullptr, _IOLBF, 0);
  for (int i = 0; i < idle; ++i) {
    if (fork() == 0) return static_cast<int>(sleep(for_ever));
  }
  std::vector<int> sockets;
  std::string said = "ports";
  for (int i = 0; i < (how == "two" ? 2 : 1); ++i) {
    int port = 0;
    const int fd = listen_on(v6, port);
    if (fd < 0) continue;
    sockets.push_back(fd);
    said += " " + std::to_string(port);
  }
  const bool elsewhere = how == "child" || how == "session" || how == "left";
  if (elsewhere && fork() != 0) {
    for (const int fd : sockets) close(fd);
    if (how == "left") return 0;
    return wait(nullptr) > 0 ? 0 : 1;
  }
  if (how == "left" || how == "session") setsid();
  if (elsewhere && fork() != 0) {
    for (const int fd : sockets) close(fd);
    return wait(nullptr) > 0 ? 0 : 1;
  }
  std::puts(said.c_str());
  serve(std::move(sockets));
  return 0;
}
