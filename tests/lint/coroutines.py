"""Two rules for coroutines: all work has an owner, and nothing that g++ 12 miscompiles stands beside a co_await.

g++ 12 copies aggregate temporaries of a full expression with co_await bitwise into the frame and destroys them twice:
braced aggregates, lambdas that own captures, class values out of `?:`. The check is textual. It takes each full
expression with a co_await, blanks the bodies of lambdas in it (they are full expressions of their own), and looks for
the forms; a named variable before the await is always the way out.
"""

import re

from source import ROOT, bare, cpp_files, line_of, name_of

OWNERS = re.compile(r"^src/(core/task_group\.(hpp|cpp)|cli/main\.cpp)$")
CO_SPAWN = re.compile(r"\bco_spawn\b(?!\.hpp)")


def work_has_an_owner():
    problems = []
    for path in cpp_files("include", "src", "tests", "examples"):
        text = bare(path.read_text())
        for found in re.finditer(r"\basio::detached\b", text):
            problems.append(f"{name_of(path)}:{line_of(text, found.start())}: nothing is detached")
        if OWNERS.match(name_of(path)) or not name_of(path).startswith(("include/", "src/")):
            continue
        for found in CO_SPAWN.finditer(text):
            problems.append(f"{name_of(path)}:{line_of(text, found.start())}: only task_group and main call co_spawn")
    return problems


# ---- full expressions -----------------------------------------------------------------------------------------------

OPEN, CLOSE = "([{", ")]}"
PAIR = dict(zip(CLOSE, OPEN))
# What stands before the brace of a block; before the brace of an initialiser stands a name, `=`, `(`, `,` or `>`.
BLOCK_HEAD = re.compile(r"(^|[;{}:]|\b(else|do|try)|\)(\s*(const|noexcept|mutable|override|final|&&?|->[^;{}()=]*))*|"
                        r"[\[(,=]\s*\[[^\[\]]*\](\s*mutable)?)\s*$")


CONTROL = re.compile(r"\b(if|while|for|switch|constexpr)\s*$")


def bracket_pairs(text):
    """Offset of each bracket -> offset of its partner."""
    pairs, stack = {}, []
    for at, sign in enumerate(text):
        if sign in OPEN:
            stack.append(at)
        elif sign in CLOSE and stack and text[stack[-1]] == PAIR[sign]:
            pairs[at] = stack.pop()
            pairs[pairs[at]] = at
    return pairs


def opens_block(text, brace):
    return bool(BLOCK_HEAD.search(text[max(0, brace - 300):brace]))


def start_of_expression(text, pairs, at):
    """Walks left from a co_await, over closed brackets and out of open ones, to the end of what comes before."""
    at -= 1
    while at >= 0:
        sign = text[at]
        if sign == ";":
            break
        if sign == "{" and opens_block(text, at) or sign == "(" and CONTROL.search(text[max(0, at - 20):at]):
            break
        if sign == ")" and at in pairs and CONTROL.search(text[max(0, pairs[at] - 20):pairs[at]]):
            break
        if sign == "}":
            if at not in pairs or opens_block(text, pairs[at]) and not inside_call(text, pairs, at):
                break
            at = pairs[at]
        elif sign in CLOSE:
            at = pairs.get(at, at)
        at -= 1
    return at + 1


def inside_call(text, pairs, brace):
    """Whether the block that ends here is the body of a lambda in a larger expression."""
    after = re.compile(r"\s*").match(text, brace + 1).end()
    return text[after:after + 1] in (",", ")", "(", ".")


def end_of_expression(text, pairs, at):
    """Walks right to the `;`, to a block, or out of the brackets it started in."""
    while at < len(text):
        sign = text[at]
        if sign == ";" or sign in CLOSE:
            break
        if sign == "{" and opens_block(text, at) and not lambda_body(text, pairs, at):
            break
        if sign in OPEN:
            at = pairs.get(at, at)
        at += 1
    return at


LAMBDA_HEAD = re.compile(r"\](\s*\([^{};]*\))?[^{};()]*$")


def lambda_body(text, pairs, brace):
    return bool(LAMBDA_HEAD.search(text[max(0, brace - 300):brace]))


def without_lambda_bodies(text):
    pairs = bracket_pairs(text)
    out, at = [], 0
    while at < len(text):
        if text[at] == "{" and at in pairs and lambda_body(text, pairs, at):
            out.append("{" + re.sub(r"[^\n]", " ", text[at + 1:pairs[at]]) + "}")
            at = pairs[at]
        else:
            out.append(text[at])
        at += 1
    return "".join(out)


# ---- the forms ------------------------------------------------------------------------------------------------------

BRACED_ARGUMENT = re.compile(r"[(,]\s*\{")
DESIGNATED = re.compile(r"\{\s*\.\s*[A-Za-z_]\w*\s*[={]")
AWAIT_IN_BRACES = re.compile(r"[\w>=]\s*\{")
CAPTURES = re.compile(r"(?:^|[(,={?:&|]|\breturn|\bco_await)\s*\[(?!\[)([^\[\]]*)\]\s*[({mn-]")
ADDRESS = re.compile(r"^(&.*|this|\w+\s*=\s*&.*)$", re.DOTALL)


def owning_captures(expression):
    for found in CAPTURES.finditer(expression):
        captures = [part.strip() for part in found[1].split(",") if part.strip()]
        if any(not ADDRESS.match(capture) for capture in captures):
            return True
    return False


def awaits_in_braces(expression):
    pairs = bracket_pairs(expression)
    return any(
        "co_await" in expression[found.end():pairs.get(found.end() - 1, found.end())]
        for found in AWAIT_IN_BRACES.finditer(expression)
    )


PLAIN = re.compile(r"^-?[\d.'xa-fA-FuUlL]+$|^(true|false|nullptr)$|^'\s*'$|^[\w:]+\.(size|count|code|length)\(\)$|"
                   r"^(static_cast|reinterpret_cast)<[\w:]+>\([^()]*\)$")
TEXT = re.compile(r'^"\s*"$')
NAME = re.compile(r"^[*&]?[A-Za-z_][\w:]*((\.|->)\w+)*$")


def branch_kind(branch):
    branch = branch.strip()
    moved = re.match(r"^std::move\((.*)\)$", branch)
    if PLAIN.match(branch):
        return "plain"
    if TEXT.match(branch):
        return "text"
    return "name" if NAME.match(moved[1] if moved else branch) else "value"


def until(text, stops):
    """Length of the text before the first stop sign outside brackets (`::` is no stop)."""
    pairs, at = bracket_pairs(text), 0
    nested = 0
    while at < len(text):
        if text[at] == "?":
            nested += 1
        elif text.startswith("::", at):
            at += 1
        elif text[at] == ":" and nested:
            nested -= 1
        elif text[at] in stops or text[at] in CLOSE:
            return at
        elif text[at] in OPEN:
            at = pairs.get(at, at)
        at += 1
    return at


def class_ternary(expression):
    for found in re.finditer(r"\?", expression):
        rest = expression[found.end():]
        first = rest[:until(rest, ":")]
        second = rest[len(first) + 1:]
        second = second[:until(second, ",;")]
        kinds = {branch_kind(first), branch_kind(second)}
        # Numbers, literals and two names of one type make no temporary; a name and a literal may.
        if "value" in kinds or kinds == {"name", "text"}:
            return True
    return False


FORMS = [
    ("a braced argument", lambda e: BRACED_ARGUMENT.search(e) or DESIGNATED.search(e)),
    ("an aggregate built from an await", awaits_in_braces),
    ("a lambda that owns captures", owning_captures),
    ("?: of a class type", class_ternary),
]


def bad_awaits(text):
    """(line, what) of every form in a full expression with co_await."""
    text = bare(text)
    pairs = bracket_pairs(text)
    problems = {}
    for found in re.finditer(r"\bco_await\b", text):
        start = start_of_expression(text, pairs, found.start())
        expression = without_lambda_bodies(text[start:end_of_expression(text, pairs, start)])
        for what, form in FORMS:
            if form(expression):
                problems.setdefault((line_of(text, found.start()), what))
    return list(problems)


def no_bad_awaits():
    return [
        f"{name_of(path)}:{line}: {what} beside co_await; name it first"
        for path in cpp_files("include", "src", "tests", "examples")
        for line, what in bad_awaits(path.read_text())
    ]


def self_test():
    """tests/lint/awaits.txt: snippets apart by blank lines, each headed `bad` or `good`."""
    problems = []
    for snippet in (ROOT / "tests" / "lint" / "awaits.txt").read_text().split("\n\n"):
        head, _, body = snippet.strip().partition("\n")
        found = bad_awaits(body)
        if head not in ("bad", "good") or (head == "bad") != bool(found):
            problems.append(f"{head}: {body.strip()}: found {found}")
    return problems
