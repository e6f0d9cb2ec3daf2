"""Lengths, words and formatting."""

import re
import shutil
import subprocess

from source import ROOT, Skip, cpp_files, name_of, project_files

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
FOLDERS = ("include", "src", "tests", "examples")
SOURCES = {".hpp", ".cpp", ".py", ".sh", ".S"}


def short_files():
    problems = []
    for path in project_files():
        if path.suffix in SOURCES or name_of(path) in ("dev", "tests/lint/run"):
            lines = len(path.read_bytes().splitlines())
            if lines > LONGEST_FILE:
                problems.append(f"{name_of(path)}: {lines} lines")
    return problems


def short_functions():
    if not shutil.which("ctags"):
        raise Skip("no ctags")
    version = subprocess.run(["ctags", "--version"], capture_output=True, text=True, check=False).stdout
    if "Universal Ctags" not in version:
        raise Skip("ctags is not Universal Ctags")
    paths = [name_of(path) for path in cpp_files("include", "src")]
    listed = subprocess.run(
        ["ctags", "-f", "-", "--languages=C++", "--langmap=C++:+.hpp", "--c++-kinds=f", "--fields=+ne", "-L", "-"],
        input="\n".join(paths), cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout
    problems = []
    for tag in listed.splitlines():
        name, path = tag.split("\t")[:2]
        fields = dict(re.findall(r"\t(line|end):(\d+)", tag))
        if len(fields) == 2:
            lines = int(fields["end"]) - int(fields["line"]) + 1
            if lines > LONGEST_FUNCTION:
                problems.append(f"{path}:{fields['line']}: {name} has {lines} lines")
    return problems


# Written with classes so that this file does not find itself.
BANNED = {
    re.compile(r"(?<![\w.}*])/(wor[k]|roo[t])/"): "a path of one machine",
    re.compile(r"\b(TOD[O]|FIXM[E]|XX[X])\b(?!\([^)]+\):)"): "a to-do without `TODO(reason):`",
}


def no_banned_words():
    problems = []
    for path in project_files():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, meaning in BANNED.items():
                if pattern.search(line):
                    problems.append(f"{name_of(path)}:{number}: {meaning}: {line.strip()[:80]}")
    return problems


def shell_scripts():
    scripts = [path for path in project_files()
               if path.suffix in ("", ".sh") and path.read_bytes().startswith((b"#!/bin/sh", b"#!/bin/bash"))]
    problems = []
    for path in scripts:
        shell = path.read_text().partition("\n")[0].removeprefix("#!")
        calls = [[shell, "-n", path]]
        if shutil.which("shellcheck"):
            calls.append(["shellcheck", "--format=gcc", path])
        for call in calls:
            done = subprocess.run(call, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                problems.append(f"{name_of(path)}: {(done.stdout + done.stderr).strip()}")
    return problems


def formatted():
    if not shutil.which("clang-format"):
        raise Skip("no clang-format")
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=False).stdout
    if "version 14." not in version:
        raise Skip("only clang-format 14 decides; versions differ")
    paths = [str(path) for path in cpp_files(*FOLDERS)]
    done = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", *paths], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    lines = {}
    for path, line in re.findall(r"^(.*?):(\d+):\d+: error: ", done.stderr, re.MULTILINE):
        lines.setdefault(path, line)
    return [f"{path.removeprefix(str(ROOT) + '/')}:{line}: ./dev format" for path, line in lines.items()]
