"""How a condition fails, and the bound on the work it may do.

An operation that its values do not have is a Mistake, which has no place yet; whoever knows the place makes it a
ConditionFailed. Too much work ends the whole condition: neither `||` nor a macro absorbs it.
"""

from __future__ import annotations

from typing import Final

from webhook.language.syntax import Span

MOST_STEPS: Final = 1_000_000
"""Steps of one evaluation of a condition with macros: a part that is computed for an item, an item or 64 characters
that are looked at."""


class ConditionFailed(Exception):
    """A condition that could not be evaluated: an absent field, an overflow, a value of another type."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message, self.span = message, span


class TooCostly(ConditionFailed):
    """A condition that took more steps than it may."""


class Mistake(Exception):
    """An operation that these values do not have; not seen outside this package's evaluator."""


class Exhausted(Mistake):
    """No step is left."""


def failed(mistake: Mistake, span: Span) -> ConditionFailed:
    """The mistake at its place."""
    kind = TooCostly if isinstance(mistake, Exhausted) else ConditionFailed
    return kind(str(mistake), span)


class Work:
    """What is left of the steps; the one thing in an evaluation that changes."""

    __slots__ = ("left",)

    def __init__(self, steps: int = MOST_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Take some steps. Raises Exhausted where there are not as many."""
        self.left -= steps
        if self.left < 0:
            raise Exhausted(f"the condition takes more than {MOST_STEPS:,} steps for this object")
