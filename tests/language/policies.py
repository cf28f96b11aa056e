"""Random policy files, drawn from the grammar itself, so that a statement added there is tried everywhere at once.

A file is drawn in two steps: first its tokens, from the rules that Lark compiled; then its text, with spaces, line
ends, empty lines and comments wherever the language allows them. Both steps take a seed: the same tokens can be
written in many ways.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from hypothesis import strategies as st
from lark.grammar import Rule, Symbol
from lark.lexer import PatternRE

from webhook.language.grammar import BRACES, GOES_ON, OPENING, build_parser

WORDS = (
    "gpu",
    "cpu",
    "memory",
    "nvidia.com/gpu",
    "a100",
    "spot",
    "vision",
    "Job",
    "JobSet",
    "strict",
)
SAMPLES: dict[str, tuple[str, ...]] = {
    "WORD": (*WORDS, "any", "order", "a-very-long-name-that-somebody-gave-to-a-queue"),
    "NUMBER": ("0", "1", "8", "64", "250m", "1.5", "8Ti", "1e3", "15m", "100000"),
    "TEXT": ('"a"', '"x y"', '"team-{queue}"', '"say \\"no\\""', '"# no comment {requests.gpu}"', '""'),
    "PATH": ("spec.a", 'metadata.labels["a/b"]', "spec.list[*].x", "spec"),
    "C_NAME": ("namespace", "labels", "object", "pods", "requests", "queue", "x"),
    "C_FIELD": ("spec", "metadata", "gpu", "to", "when", "in_it"),
    "C_NUMBER": ("0", "1", "8", "1.5", ".5", "0x1F", "1e3"),
    "C_STRING": ('"a"', "'b'", 'r"\\d"', '"""three\nlines # no"""', "'say \"no\"'", '"a\\n"'),
    "C_COMPARE": ("==", "!=", "<", "<=", ">", ">="),
    "RBRACE": ("}",),
}  # fmt: skip
REMARKS = ("# one", "#two", "# tidegate: ignore[TG203] three", "#", '# { "four', "# é  ")
LONGEST = 150
"""After so many tokens a statement is brought to its end."""
WORDISH = re.compile(r"[\w\"'.+/\]-]")


@dataclass(frozen=True)
class Grammar:
    """The rules by what they make, and for each symbol how deep its shortest text is."""

    rules: dict[str, list[Rule]]
    least: dict[str, int]
    terminals: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def grammar() -> Grammar:
    parser = build_parser()
    rules: dict[str, list[Rule]] = defaultdict(list)
    for rule in parser.rules:
        rules[rule.origin.name].append(rule)
    terminals = {t.name: SAMPLES.get(t.name) or (_literal(t.pattern),) for t in parser.terminals}
    least = dict.fromkeys(terminals, 0)
    while any(name not in least for name in rules):
        for name, ways in rules.items():
            depths = [
                _depth(way, least) for way in ways if all(s.name in least for s in way.expansion)
            ]
            if depths:
                least[name] = min(depths)
    return Grammar(dict(rules), least, terminals)


def _depth(rule: Rule, least: dict[str, int]) -> int:
    return 1 + max((least[s.name] for s in rule.expansion), default=0)


def _literal(pattern: object) -> str:
    """The word of a keyword's expression, or the sign of a plain text."""
    value = str(getattr(pattern, "value", ""))
    return value.partition("(?!")[0] if isinstance(pattern, PatternRE) else value


Drawn = tuple[str, str]
"""The name of a terminal, and its text."""


def draw_tokens(random: Random, *, start: str = "start", statements: int = 6) -> list[Drawn]:
    """The tokens of a file of about so many statements."""
    if start != "start":
        return _draw(random, start, 20)
    drawn: list[Drawn] = []
    for _ in range(random.randint(1, statements)):
        drawn += [*_draw(random, "_statement", random.randint(6, 24)), ("_NL", "")]
    return drawn


def _draw(random: Random, start: str, depth: int) -> list[Drawn]:
    rules, least, terminals = grammar().rules, grammar().least, grammar().terminals
    drawn: list[Drawn] = []
    waiting = [(start, depth)]
    while waiting:
        name, left = waiting.pop()
        if name not in rules:
            drawn.append((name, random.choice(terminals[name])))
            continue
        left = left if len(drawn) < LONGEST else 0
        ways = [rule for rule in rules[name] if _depth(rule, least) <= left]
        ways = ways or [min(rules[name], key=lambda rule: _depth(rule, least))]
        symbols: list[Symbol] = list(random.choice(ways).expansion)
        waiting.extend((s.name, left - 1) for s in reversed(symbols))
    return drawn


def write(tokens: list[Drawn], lines: Random, spaces: Random, *, end: str = "\n") -> str:
    """A text of these tokens. ``lines`` says where lines end and what comments stand there."""
    written, stack, before = [_line_end(lines, spaces, first=True)], list[str](), ("", "")
    for at, (kind, text) in enumerate(tokens):
        inside = bool(stack) and stack[-1] in OPENING
        if kind in OPENING or kind in BRACES:
            stack.append(kind)
        elif kind in ("C_RPAR", "C_RSQB", "RBRACE") and stack:
            stack.pop()
        if kind == "_NL":
            written.append(_line_end(lines, spaces))
        else:
            free = inside or before[0] in GOES_ON or kind in ("C_AND", "C_OR", "_WHEN", "_TO")
            broken = at > 0 and before[0] != "_NL" and free and lines.random() < 0.15
            written.append(_line_end(lines, spaces) if broken else _space(before[1], text, spaces))
            written.append(text)
        before = kind, text
    return "".join(written).replace("\n", end)


def _space(before: str, text: str, spaces: Random) -> str:
    needed = before and WORDISH.fullmatch(before[-1]) and WORDISH.fullmatch(text[0])
    return spaces.choice([" ", " ", "  ", "\t"]) if needed else spaces.choice(["", " ", " ", "   "])


def _line_end(lines: Random, spaces: Random, *, first: bool = False) -> str:
    """The end of a line, comments and empty lines included, up to the indentation of the next."""
    parts = [] if first else [_remark(lines, spaces, 0.25) + "\n"]
    for _ in range(lines.choice([0, 0, 0, 0, 1, 1, 3])):
        parts.append(spaces.choice(["", " ", "\t"]) + _remark(lines, spaces, 0.5) + "\n")
    return "".join(parts) + " " * spaces.choice([0, 0, 1, 4])


def _remark(lines: Random, spaces: Random, chance: float) -> str:
    drawn = lines.choice(REMARKS) if lines.random() < chance else ""
    return spaces.choice(["", " ", "   "]) + drawn


def policy(seed: int) -> str:
    """One file."""
    random = Random(seed)
    return write(draw_tokens(random), random, random)


SEEDS = st.integers(0, 2**32 - 1)
POLICIES = SEEDS.map(policy)
