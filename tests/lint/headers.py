"""Public headers: what they may include, and that each compiles alone."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess

from source import ROOT, Skip, includes, name_of

FOLDER = ROOT / "include" / "berth"
NARROW = re.compile(r"^(berth/[a-z0-9_]+\.hpp|asio/[a-z0-9_/]+\.hpp|[a-z0-9_]+|sys/types\.h)$")


def public_headers():
    return sorted(FOLDER.rglob("*.hpp"))


def includes_are_narrow():
    return [
        f"{name_of(path)}:{line}: {included}"
        for path in public_headers()
        for line, _, included in includes(path)
        if not NARROW.match(included)
    ]


def build_folder():
    folder = os.environ.get("BERTH_BUILD")
    if not folder or not (pathlib.Path(folder) / "compile_commands.json").is_file():
        raise Skip("BERTH_BUILD names no build folder")
    return pathlib.Path(folder)


def compiler_call():
    """The compiler and the flags with which src/core is compiled: include paths, macros, language."""
    folder = build_folder()
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        if entry["file"].endswith("src/core/asio.cpp"):
            words = shlex.split(entry["command"])
            compiler = words[:next(i for i, word in enumerate(words) if word.startswith("-"))]
            kept = [word for word in words if re.match(r"-(I|D|isystem|std=|pthread|W)", word)]
            # The paths of private headers are left out: a user does not have them.
            private = re.compile(r"-I.*(src|\.p)(/core)?$")
            kept = [word for word in kept if not private.match(word)]
            return folder, [word for word in compiler if not word.endswith("ccache")], kept
    raise Skip("src/core/asio.cpp is not compiled")


def fingerprint(path, call, seen):
    """A hash of a header, of what it includes of ours, and of the compiler call: a header that passed is left alone."""
    digest = hashlib.sha256(" ".join(call).encode())
    todo = [path]
    while todo:
        header = todo.pop()
        if header in seen or not header.is_file():
            continue
        seen.add(header)
        digest.update(header.read_bytes())
        todo += sorted(ROOT / "include" / name for _, _, name in includes(header) if name.startswith("berth/"))
    return digest.hexdigest()


def compile_alone():
    folder, compiler, flags = compiler_call()
    version = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False).stdout
    call = [*compiler, *flags, "-fsyntax-only", "-x", "c++"]
    passed_file = folder / "headers-passed"
    passed = set(passed_file.read_text().split()) if passed_file.is_file() else set()

    def compile_one(path):
        key = fingerprint(path, [*call, version], set())
        if key in passed:
            return key, None
        source = f'#include "berth/{path.relative_to(FOLDER).as_posix()}"\n'
        done = subprocess.run([*call, "-"], input=source, cwd=folder, capture_output=True, text=True, check=False)
        return key, None if done.returncode == 0 else f"{name_of(path)}: {done.stderr.strip()}"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(compile_one, public_headers()))
    passed_file.write_text("\n".join(key for key, problem in results if problem is None))
    return [problem for _, problem in results if problem]
