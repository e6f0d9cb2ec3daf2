/// What a command tries against the resident of its sandbox, and against all that runs beside it. The sandbox must stay the same one:
/// /dev/shm is that of a sandbox, and so is what it holds.
#include "isolation_cases/case_site.hpp"

namespace berth::test {
namespace {

task<void> attack(asio::io_context& io, const case_site& site, std::string text) {
  auto [place, where] = co_await open_site(io, site);
  const exec_result before = co_await place.exec(where, command("echo same >/dev/shm/mark"));
  CHECK(before.ok());
  const exec_result got = co_await place.exec(where, command(text).merge_stderr().timeout(5s));
  CAPTURE(got.std_out);
  CHECK(got.std_out.find("DONE") == std::string::npos);
  const exec_result after = co_await place.exec(where, command("cat /dev/shm/mark; cat /proc/1/comm; ulimit -n"));
  CAPTURE(describe(after.status));
  CHECK(after.std_out.starts_with("same\nberth-resident\n"));
  const exec_result usual = co_await place.exec(where, command("ulimit -n"));
  CHECK(after.std_out == "same\nberth-resident\n" + usual.std_out);
  co_await place.destroy(where);
}

void attack_as_script(const char* name, const std::string& text) {
  if (lacks(name) || lacks(name, "/usr/bin/python3")) return;
  const case_site site;
  const auto body = [&](asio::io_context& io) { return attack(io, site, text); };
  run_async(body, case_patience);
}

/// The script prints DONE where it got what it wanted.
#define ATTACK(sentence, text) \
  TEST_CASE("isolation, attack: " sentence) { attack_as_script("isolation, attack: " sentence, text); }

ATTACK("signals to the resident", R"(for s in $(seq 1 64); do kill -$s 1; done 2>/dev/null
python3 -c '
from attempt import *
for s in range(1, 65):
    for what in (lambda: call("tgkill", 1, 1, s), lambda: call("pidfd_send_signal", call("pidfd_open", 1, 0), s, 0, 0)):
        try: what()
        except OSError: pass
')")
ATTACK("signals to all", "kill -STOP -1; kill -CONT -1; kill -KILL -1")
ATTACK("signals to its group", "kill -STOP 0 & sleep 1; kill -KILL 0")
ATTACK("a signal by a descriptor that belongs to the resident", R"(python3 -c '
from attempt import *
r, w = os.pipe()
fcntl.fcntl(r, fcntl.F_SETOWN, 1)
fcntl.fcntl(r, 10, 9)  # F_SETSIG
fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC)
os.write(w, b"x")
')")
ATTACK("the resident's memory",
       "cat /proc/1/mem /proc/1/maps /proc/1/environ /proc/1/auxv && echo DONE; echo x >/proc/1/mem && echo DONE; "
       "python3 -c 'from attempt import *; call(\"process_vm_readv\", 1, 0, 0, 0, 0, 0); print(\"DO\" + \"NE\")'; "
       "python3 -c 'from attempt import *; call(\"ptrace\", 16, 1, 0, 0); print(\"DO\" + \"NE\")'")
ATTACK("the resident's descriptors", R"(for f in $(seq 0 20); do
  readlink /proc/1/fd/$f && echo DONE; : </proc/1/fd/$f && echo DONE; : >/proc/1/fd/$f && echo DONE
done
python3 -c '
from attempt import *
p = call("pidfd_open", 1, 0)
for f in range(20):
    try: call("pidfd_getfd", p, f, 0); print("DO" + "NE")
    except OSError: pass
')")
ATTACK("the resident's root, directory and program",
       "ls /proc/1/root/ && echo DONE; ls /proc/1/cwd/ && echo DONE; cat /proc/1/exe >/dev/null && echo DONE; true")
ATTACK("the resident's files in /proc", R"(python3 -c '
import os
# What all may open is refused when it is written. What root may open is told in docs/isolation.md.
known = {"timerslack_ns", "current", "exec", "fscreate", "keycreate", "sockcreate"}
if os.geteuid() == 0:
    known |= {"sched", "autogroup", "timens_offsets", "comm", "clear_refs", "oom_adj", "oom_score_adj", "loginuid",
              "coredump_filter", "uid_map", "gid_map", "projid_map", "setgroups", "latency"}
for folder, _, names in os.walk("/proc/1", onerror=lambda e: None):
    for name in sorted(set(names) - known):
        try: os.close(os.open(folder + "/" + name, os.O_WRONLY)); print("opened", folder + "/" + name, "DO" + "NE")
        except OSError: pass
')")
ATTACK("the resident's limits", R"(
for l in --nofile=3 --cpu=0 --as=1000 --nproc=0 --stack=0 --data=0 --fsize=0; do
  prlimit --pid 1 $l && echo DONE
done
sleep 1)")
ATTACK("the resident's turns at the processor", R"(
renice -n 19 -p 1 && echo DONE
renice -n 19 -g 1 && echo DONE
renice -n 19 -u $(id -u) && echo DONE
taskset -p 1 1 && echo DONE
chrt -i -p 0 1 && echo DONE
ionice -c 3 -p 1 && echo DONE
renice -n 1 -p $$ && taskset -p 1 $$ && ionice -c 3 -p $$ && prlimit --pid $$ --nofile=100 || echo own: DONE)")
ATTACK("all the memory it may have", R"(ulimit -v 400000
python3 -c '
parts = []
while True: parts.append(bytearray(1 << 20))
')")
ATTACK("all the descriptors it may have", R"(ulimit -n 300
python3 -c '
import os
while True: os.dup(1)
')")
ATTACK("three hundred processes that stay", "for i in $(seq 300); do sleep 277 >/dev/null 2>&1 & done")
ATTACK("a tree that breeds while it is ended",
       R"(
cat >breed.sh <<'X'
i=$1
[ $i -gt 6 ] && exec sleep 278
sh breed.sh $((i + 1)) & sh breed.sh $((i + 1)) &
wait
X
setsid sh breed.sh 0 >/dev/null 2>&1 & sleep 1)")
ATTACK("closed standard descriptors", "exec 0<&- 1>&- 2>&-; sleep 0.1; exit 3")
ATTACK("its own name and parent", R"(python3 -c '
from attempt import *
libc.prctl(15, b"berth-resident", 0, 0, 0)
if os.fork(): os._exit(0)
os.setsid()
time.sleep(1)
')")

ASYNC_TEST_FOR("isolation, attack: the terminal of another command can be neither taken nor pushed into",
               case_patience) {
  if (lacks("terminal") || lacks("terminal", "/usr/bin/python3")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  terminal_options options;
  options.run(command("tty; cat"));
  terminal screen = co_await place.open_terminal(where, std::move(options));
  const auto named = co_await screen.wait_for_output("/dev/pts/", case_patience / 2);
  CHECK(named.has_value());
  const exec_result got = co_await place.exec(where, command(R"(setsid python3 -c '
from attempt import *
for name in os.listdir("/dev/pts"):
    if not name.isdigit(): continue
    fd = os.open("/dev/pts/" + name, os.O_RDWR | os.O_NOCTTY)
    for request in (0x540e, 0x5412):  # TIOCSCTTY, TIOCSTI
        try: control(fd, request); print("DONE", request)
        except OSError as e: print("refused", e.errno)
')")
                                                         .merge_stderr());
  CAPTURE(got.std_out);
  CHECK(got.std_out.find("refused 1") != std::string::npos);
  CHECK(got.std_out.find("DONE") == std::string::npos);
  (void)co_await screen.kill();
  co_await place.destroy(where);
}

}  // namespace
}  // namespace berth::test
