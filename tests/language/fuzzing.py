"""Mutated policies through everything that reads them: parser, checker, formatter, conditions.

Deterministic: an input is made from its number alone, so that a failure is found again by it.
"""

from __future__ import annotations

import re
import resource
import time
from functools import lru_cache
from pathlib import Path
from random import Random

from tests.language.building import SCOPE
from tests.language.policies import draw_tokens, grammar, write
from webhook.language.check import lint
from webhook.language.conditions import ConditionFailed, Names, compile_condition
from webhook.language.expression import Expression
from webhook.language.format import format_text
from webhook.language.parse import parse, parse_expression
from webhook.language.policy import Policy
from webhook.language.problems import Problem
from webhook.language.syntax import Source
from webhook.model.kinds import JOB

ROOT = Path(__file__).parents[2]
SECONDS = 5.0
"""Of computing for one input of at most a few KiB; a usual one takes milliseconds."""
ODD = (
    "\x00",
    "\u200b",
    "\u00a0",
    "\u201c",
    "é",
    "🎉",
    "\r",
    "\t",
    "\\",
    '"',
    "'",
    '"""',
    "#",
    "/*",
    "//",
)
SIGNS = (
    *ODD,
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    "\n",
    "\r\n",
    "&&",
    "||",
    "=",
    "==",
    "-",
    ".",
    ":",
    " ",
)
NAMES = Names((JOB,), aliases={"gpu": "nvidia.com/gpu"})


@lru_cache(maxsize=1)
def seeds() -> tuple[str, ...]:
    """The statements of our own policies and of the pages, each a text of its own."""
    texts = [
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "policies").rglob("*.tide"))
    ]
    for page in sorted((ROOT / "docs").glob("*.md")):
        texts += re.findall(r"```tide\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return tuple(
        text[s.span.start : s.span.end] + "\n"
        for text in texts
        for s in parse(text, path="x").file.statements
    )


@lru_cache(maxsize=1)
def inserts() -> tuple[str, ...]:
    """Words and signs that are put somewhere."""
    words = (f" {text} " for texts in grammar().terminals.values() for text in texts if text)
    return (*SIGNS, *words)


def make(number: int) -> str:
    """The input of this number: some statements, real or drawn, with up to six changes."""
    random = Random(number)
    parts = [_statement(random) for _ in range(random.choice((1, 1, 2, 3)))]
    text = "".join(parts)
    for _ in range(random.choice((0, 1, 1, 2, 3, 6))):
        text = _mutate(text, random)
    return text[:4000]


def _statement(random: Random) -> str:
    if random.random() < 0.7:
        return random.choice(seeds())
    return write(draw_tokens(random, statements=1), random, random)


def _mutate(text: str, random: Random) -> str:
    start = random.randint(0, len(text))
    end = min(len(text), start + random.choice((0, 1, 1, 2, 5, 20)))
    match random.randrange(7):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:start] + random.choice(inserts()) + text[end:]
        case 2:
            return text[:end] + text[start:end] * random.choice((1, 2, 30)) + text[end:]
        case 3:
            other = random.choice(seeds())
            return text[:start] + other[random.randint(0, len(other)) :]
        case 4:
            lines = text.splitlines(keepends=True)
            random.shuffle(lines)
            return "".join(lines)
        case 5:
            return text[:start]
        case _:
            return text[:start] + random.choice(inserts()) + text[start:]


def run(first: int, many: int) -> tuple[int, int]:
    """Try so many inputs; returns how many were accepted, and the MiB that this process held at most."""
    accepted = 0
    for number in range(first, first + many):
        text = make(number)
        try:
            accepted += attempt(text)
        except Exception as error:
            raise AssertionError(f"input {number}: {text!r}: {error!r}") from error
    return accepted, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def attempt(text: str) -> bool:
    """Read a text in every way. Raises for whatever is no problem of the text; true where it was accepted.

    The formatter parses what it wrote and raises where that is not the same tree.
    """
    begun = time.process_time()
    policy, found = lint([("x.tide", text)])
    for problem in found:
        assert 0 <= problem.span.start <= problem.span.end <= len(text)
    accepted = not format_text(text, path="x.tide").problems
    _conditions(text)
    if policy is not None:
        _ask(policy)
    assert time.process_time() - begun < SECONDS
    return accepted


def _ask(policy: Policy) -> None:
    policy.route(SCOPE)
    policy.denials(SCOPE)
    policy.audited(SCOPE)
    policy.warnings(SCOPE)
    policy.writes(SCOPE)
    policy.not_accepted("vision", SCOPE)


def _conditions(text: str) -> None:
    """What stands behind the first `when` as a condition of its own, whatever it is."""
    behind = re.split(r"\bwhen\b|=", text, maxsplit=1)[-1].split("\n")[0]
    for part in (behind, re.split(r"\bto\b|\{", behind)[0]):
        read = parse_expression(part, source=Source("x.tide", part), offset=0)
        if not isinstance(read, Problem):
            _evaluate(read)


def _evaluate(expression: Expression) -> None:
    condition, _ = compile_condition(expression, names=NAMES, want="any")
    if condition is not None:
        try:
            condition.evaluate(SCOPE)
        except ConditionFailed:
            return
