"""Folders of src/ are layers: includes go to lower numbers only, equal numbers do not see each other."""

from source import ROOT, cpp_files, includes, name_of

LAYERS = {
    "core": 0, "wire": 0,
    "resident": 1, "os": 1, "http": 1,
    "rpc": 2, "context": 2, "isolation": 2,
    "host": 3, "docker": 3, "sandbox": 3,
    "e2b": 4, "daytona": 4, "bench": 4,
    "environment": 5, "mcp": 5, "tools": 5, "suite": 5,
    "cli": 6,
}

# The resident runs where there is only a kernel.
ONLY = {"resident": {"wire"}, "wire": set()}


def problem_with(folder, included):
    """What is wrong with an include in a folder of src/, or None."""
    if included.startswith("."):
        return "relative include"
    first, slash, _ = included.partition("/")
    if not slash or first == folder:
        return None
    if folder in ONLY and (first in LAYERS or first in ("berth", "asio", "fmt", "boost")):
        return None if first in ONLY[folder] else f"{folder} may not include {first}"
    if first in LAYERS and LAYERS[first] >= LAYERS[folder]:
        return f"{folder} ({LAYERS[folder]}) may not include {first} ({LAYERS[first]})"
    return None


def includes_go_down():
    problems = []
    assert problem_with("os", "context/context.hpp") and problem_with("e2b", "daytona/api.hpp")
    assert not problem_with("context", "os/pidfd.hpp") and not problem_with("core", "sys/wait.h")
    for path in cpp_files("src"):
        parts = path.relative_to(ROOT / "src").parts
        if parts[0] not in LAYERS:
            problems.append(f"{name_of(path)}: folder {parts[0]} has no layer in tests/lint/layers.py")
            continue
        for line, _, included in includes(path):
            wrong = problem_with(parts[0], included)
            if wrong:
                problems.append(f"{name_of(path)}:{line}: {included}: {wrong}")
    return problems
