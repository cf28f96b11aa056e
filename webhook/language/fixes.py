"""Apply the fixes that findings carry: text in, text out, nothing written.

Fixes that touch each other are not applied in one go; whoever calls looks again and comes back with the rest. A fix
whose result has more errors than before was no fix, and is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from webhook.language.problems import Fix, Problem, Severity
from webhook.language.records import dataclass

ROUNDS: Final = 10
Texts: TypeAlias = Mapping[str, str]
Lint: TypeAlias = Callable[[Texts], Sequence[Problem]]


@dataclass(frozen=True, slots=True)
class Fixed:
    """The texts as they are now, what is left to report, and how many findings were cured."""

    texts: Texts
    problems: tuple[Problem, ...]
    count: int


def fix_all(texts: Texts, lint: Lint, *, unsafe: bool = False) -> Fixed:
    """Fix and look again until nothing is left to fix; each file keeps its last text without new errors."""
    problems = tuple(lint(texts))
    count = 0
    refused: set[Fix] = set()
    for _ in range(ROUNDS):
        chosen = _compatible(_wanted(problems, refused, unsafe=unsafe))
        if not chosen:
            break
        attempt = {path: apply(text, chosen, path) for path, text in texts.items()}
        found = tuple(lint(attempt))
        if _errors(found) > _errors(problems):
            chosen = chosen[:1]
            attempt = {path: apply(text, chosen, path) for path, text in texts.items()}
            found = tuple(lint(attempt))
            if _errors(found) > _errors(problems):
                refused.add(chosen[0])
                continue
        texts, problems, count = attempt, found, count + len(chosen)
    return Fixed(texts, problems, count)


def apply(text: str, fixes: Iterable[Fix], path: str) -> str:
    """The text of one file with these changes, which must not touch each other."""
    here = [fix for fix in fixes if fix.span.path == path]
    for fix in sorted(here, key=lambda fix: fix.span.start, reverse=True):
        text = text[: fix.span.start] + fix.text + text[fix.span.end :]
    return text


def _wanted(problems: Iterable[Problem], refused: set[Fix], *, unsafe: bool) -> list[Fix]:
    fixes = [p.fix for p in problems if p.fix is not None and p.fix not in refused]
    return [fix for fix in fixes if fix.safe or unsafe]


def _compatible(fixes: Iterable[Fix]) -> list[Fix]:
    """Those that do not touch one before them."""
    chosen: list[Fix] = []
    for fix in sorted(dict.fromkeys(fixes), key=lambda fix: (fix.span.path, fix.span.start)):
        last = chosen[-1].span if chosen else None
        if last is None or last.path != fix.span.path or last.end < fix.span.start:
            chosen.append(fix)
    return chosen


def _errors(problems: Iterable[Problem]) -> int:
    return sum(p.severity is Severity.ERROR for p in problems)
