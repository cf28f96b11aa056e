"""One value for every finding, whoever finds it: parser, checker or lint.

Messages are lower case without a full stop, in the words of the user's file; what to do about it stands in ``help``,
so that a message can be shown on one line and a help be applied by an editor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from webhook.language.codes import CODES, Severity
from webhook.language.records import dataclass
from webhook.language.syntax import Span

__all__ = ["Fix", "PolicyErrors", "Problem", "Severity", "has_errors", "problem", "sorted_problems"]


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that cures a problem: replace ``span`` by ``text``.

    ``safe``: nobody can have meant anything else. A guess at a name or an amount is none: it may be another's.
    """

    span: Span
    text: str
    safe: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Problem:
    """A finding at a place. ``label`` stands beside the carets, each of ``others`` under its own place."""

    code: str
    severity: Severity
    span: Span
    message: str
    notes: tuple[str, ...] = ()
    others: tuple[tuple[Span, str], ...] = ()
    help: str = ""
    fix: Fix | None = None
    label: str = field(default="", kw_only=True)


class PolicyErrors(Exception):
    """A policy that cannot be used; ``problems`` says why, warnings included."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        errors = [p for p in self.problems if p.severity is Severity.ERROR]
        first = errors[0] if errors else None
        more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
        super().__init__(f"{first.span.place}: {first.message}{more}" if first else "no policy")


def problem(
    code: str,
    span: Span,
    message: str,
    *,
    label: str = "",
    help: str = "",  # noqa: A002 - the field's name
    notes: tuple[str, ...] = (),
    others: tuple[tuple[Span, str], ...] = (),
    fix: Fix | None = None,
) -> Problem:
    """A problem with the severity its code has."""
    severity = CODES[code].severity
    return Problem(code, severity, span, message, notes, others, help, fix, label=label)


def sorted_problems(problems: Iterable[Problem], paths: Sequence[str]) -> tuple[Problem, ...]:
    """In the order of the files, then of their text; each finding once."""
    rank = {path: at for at, path in enumerate(paths)}
    unique = dict.fromkeys(problems)
    return tuple(
        sorted(
            unique,
            key=lambda p: (rank.get(p.span.path, len(rank)), p.span.start, p.code, p.message),
        )
    )


def has_errors(problems: Iterable[Problem]) -> bool:
    """True where one of them keeps the policy from being used."""
    return any(p.severity is Severity.ERROR for p in problems)
