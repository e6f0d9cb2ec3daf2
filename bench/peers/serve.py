"""The protocol of README.md for Python."""

import platform
import sys


def require(holds, what):
    if not holds:
        raise RuntimeError(what)


def serve(works, version="Python " + platform.python_version()):
    """Answers requests with these works until standard input ends: each gives the nanoseconds that it took."""
    print("peer", version, flush=True)
    for line in sys.stdin:
        work, count, *argv = line.rstrip("\n").split("\t")
        try:
            print("ok", works[work](int(count), argv), flush=True)
        except Exception as failure:  # whatever it is, the bench tells it
            print("error", repr(failure).replace("\n", " "), flush=True)
