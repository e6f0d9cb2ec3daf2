"""The files of the project, and C++ text without comments and literals."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Skip(Exception):
    """A check cannot run here; the text says why."""


def project_files():
    """Every file of the project, as paths below ROOT: what git knows or would take, else all but build folders."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=False,
    ) if (ROOT / ".git").exists() else None
    if listed and listed.returncode == 0:
        names = {name for name in listed.stdout.decode().split("\0") if name}
        paths = [ROOT / name for name in names]
    else:
        paths = [path for path in ROOT.rglob("*") if not path.relative_to(ROOT).parts[0].startswith(("build", ".git"))]
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


def cpp_files(*folders):
    return [
        path for path in project_files()
        if path.suffix in (".hpp", ".cpp") and path.relative_to(ROOT).parts[0] in folders
    ]


def name_of(path):
    return path.relative_to(ROOT).as_posix()


LITERALS = re.compile(
    r"""//[^\n]* | /\*.*?\*/
      | R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'
    """,
    re.VERBOSE | re.DOTALL,
)


def bare(text):
    """The text with comments and the insides of literals blanked, so that offsets and line numbers stay."""
    def blank(match):
        found = match.group()
        spaces = re.sub(r"[^\n]", " ", found)
        if found.startswith("/"):
            return spaces
        quote = found[-1]
        return quote + spaces[1:-1] + quote
    return LITERALS.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def includes(path):
    """(line number, is angled, name) of every include line."""
    text = path.read_text()
    return [(line_of(text, found.start()), found[1] == "<", found[2]) for found in INCLUDE.finditer(text)]
