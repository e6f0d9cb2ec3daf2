"""The resident goes into places that have nothing but a kernel: it must be one static file, and small."""

import shutil
import subprocess

from headers import build_folder
from source import Skip

LARGEST = 1024 * 1024


def static_and_small():
    program = build_folder() / "src" / "resident" / "berth-resident"
    if not program.is_file():
        raise Skip("the resident is not built")
    if not shutil.which("readelf"):
        raise Skip("no readelf")
    problems = []
    size = program.stat().st_size
    if size >= LARGEST:
        problems.append(f"{size} bytes; the limit is {LARGEST}")
    read = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    for kind in ("DYNAMIC", "INTERP"):
        if f" {kind} " in read:
            problems.append(f"has a program header {kind}: not static")
    return problems
