"""subprocess: several at once are started one after the other, then read."""

from subprocess import DEVNULL, PIPE, Popen, run
from time import perf_counter_ns

from serve import require, serve

READ_SIZE = 256 << 10


def exec_one(_, argv):
    begin = perf_counter_ns()
    run(argv, stdin=DEVNULL, capture_output=True, check=True)
    return perf_counter_ns() - begin


def exec_many(count, argv):
    begin = perf_counter_ns()
    children = [Popen(argv, stdin=DEVNULL, stdout=PIPE, stderr=PIPE) for _ in range(count)]
    for child in children:
        child.communicate()
        require(child.returncode == 0, f"exit code {child.returncode}")
    return perf_counter_ns() - begin


def stream(count, argv):
    begin = perf_counter_ns()
    seen = 0
    with Popen(argv, stdin=DEVNULL, stdout=PIPE, bufsize=0) as child:
        while piece := child.stdout.read(READ_SIZE):
            seen += len(piece)
    took = perf_counter_ns() - begin
    require(child.returncode == 0 and seen == count, f"{seen} bytes came, exit code {child.returncode}")
    return took


def first_byte(_, argv):
    begin = perf_counter_ns()
    with Popen(argv, stdin=DEVNULL, stdout=PIPE, bufsize=0) as child:
        piece = child.stdout.read(READ_SIZE)
        took = perf_counter_ns() - begin
    require(child.returncode == 0 and piece, f"{len(piece)} bytes came, exit code {child.returncode}")
    return took


serve({"exec": exec_one, "exec64": exec_many, "stream": stream, "first-byte": first_byte})
