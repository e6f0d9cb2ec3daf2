"""asyncio.create_subprocess_exec, all in one loop that stays."""

import asyncio
from asyncio.subprocess import DEVNULL, PIPE
from time import perf_counter_ns

from serve import require, serve

READ_SIZE = 256 << 10


async def captured(argv):
    child = await asyncio.create_subprocess_exec(*argv, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    await child.communicate()
    require(child.returncode == 0, f"exit code {child.returncode}")


async def exec_all(count, argv):
    begin = perf_counter_ns()
    await asyncio.gather(*(captured(argv) for _ in range(count)))
    return perf_counter_ns() - begin


async def stream(count, argv):
    begin = perf_counter_ns()
    seen = 0
    child = await asyncio.create_subprocess_exec(*argv, stdin=DEVNULL, stdout=PIPE, limit=READ_SIZE)
    while piece := await child.stdout.read(READ_SIZE):
        seen += len(piece)
    await child.wait()
    took = perf_counter_ns() - begin
    require(child.returncode == 0 and seen == count, f"{seen} bytes came, exit code {child.returncode}")
    return took


async def first_byte(_, argv):
    begin = perf_counter_ns()
    child = await asyncio.create_subprocess_exec(*argv, stdin=DEVNULL, stdout=PIPE)
    piece = await child.stdout.read(READ_SIZE)
    took = perf_counter_ns() - begin
    await child.wait()
    require(child.returncode == 0 and piece, f"{len(piece)} bytes came, exit code {child.returncode}")
    return took


loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)  # before Python 3.12 the one that watches children


def in_loop(work):
    return lambda count, argv: loop.run_until_complete(work(count, argv))


serve({"exec": in_loop(exec_all), "exec64": in_loop(exec_all), "stream": in_loop(stream), "first-byte": in_loop(first_byte)})
