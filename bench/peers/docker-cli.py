"""The docker command, started for each request."""

from subprocess import DEVNULL, PIPE, Popen, check_output, run
from time import perf_counter_ns

from serve import require, serve

READ_SIZE = 256 << 10


def exec_one(_, argv):
    begin = perf_counter_ns()
    run(["docker", "exec", *argv], stdin=DEVNULL, capture_output=True, check=True)
    return perf_counter_ns() - begin


def stream(count, argv):
    begin = perf_counter_ns()
    seen = 0
    with Popen(["docker", "exec", *argv], stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, bufsize=0) as child:
        while piece := child.stdout.read(READ_SIZE):
            seen += len(piece)
    took = perf_counter_ns() - begin
    require(child.returncode == 0 and seen == count, f"{seen} bytes came, exit code {child.returncode}")
    return took


version = check_output(["docker", "--version"], text=True, stdin=DEVNULL).strip()
serve({"docker-exec": exec_one, "docker-stream": stream}, version)
