"""Policies with their mistakes marked: ``### TG104 "no queue named `x`"`` on the guilty line, ``---`` between policies.

Everything from ``###`` on is taken away before the policy is read. All marks of a policy have to be reported, and
nothing else.
"""

import re

from webhook.language.check import lint
from webhook.language.problems import Problem

MARK = re.compile(r'[ \t]*### (TG\d{3}) "(.*?)"(?=\s*(?:###|$))')


def split(text: str) -> list[str]:
    """The policies of a text."""
    return [chunk.strip("\n") + "\n" for chunk in re.split(r"(?m)^---$", text)]


def expected(chunk: str) -> list[tuple[int, str, str]]:
    """Line, code and message of each mark, sorted."""
    found = []
    for number, line in enumerate(chunk.splitlines(), start=1):
        found += [(number, code, message) for code, message in MARK.findall(line)]
    return sorted(found)


def plain(chunk: str) -> str:
    """The policy without its marks."""
    return "\n".join(line.partition("###")[0].rstrip() for line in chunk.splitlines()) + "\n"


def reported(text: str) -> list[tuple[int, str, str]]:
    """Line, code and message of everything that is found, sorted."""
    return sorted((p.span.line, p.code, p.message) for p in problems(text))


def problems(text: str, path: str = "x.tide") -> tuple[Problem, ...]:
    """Everything that is found in one file."""
    return lint([(path, text)])[1]


def codes(text: str) -> list[str]:
    """The codes of everything that is found, in order."""
    return [p.code for p in problems(text)]
