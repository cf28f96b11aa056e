"""The answer to one request, before it is put into words the API server reads."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from webhook.model.patch import NO_PATCH, Patch

FORBIDDEN = 403
LONGEST_LINE = 2000
"""Characters; a label may be as long as a request when a webhook is asked about it."""


class Reason(Enum):
    """What kind of refusal it is: the words a policy's tests use behind ``because``, and two of our own."""

    NEVER_FITS = "never-fits"
    UNCOVERED = "uncovered"
    LIMIT = "limit"
    ACCEPT = "accept"
    UNKNOWN_QUEUE = "unknown-queue"
    UNKNOWN_PRIORITY = "unknown-priority"
    DENIED = "denied"
    """a rule of the policy said so: a ``deny``, or ``route otherwise deny``"""
    FORBIDDEN = "forbidden"
    """whatever the policy says: what cannot be counted, an edit nobody may make"""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason to refuse: one line, with the rule and the ``file:line`` it stands at, where a rule is behind it."""

    message: str
    rule: str = ""
    place: str = ""
    reason: Reason = Reason.FORBIDDEN

    @property
    def cause(self) -> str:
        """What refuses, apart from the numbers of the day: the rule and its place, else the message."""
        return f"{self.rule} {self.place}" if self.place else self.message

    @property
    def line(self) -> str:
        """As the submitter reads it; never more than one line."""
        source = (
            f" ({' '.join(part for part in (self.rule, self.place) if part)})" if self.place else ""
        )
        words = " ".join(f"{self.message}{source}".split())
        return words if len(words) <= LONGEST_LINE else words[: LONGEST_LINE - 1] + "…"


@dataclass(frozen=True, slots=True)
class Decision:
    """Allowed unless there is a refusal; then all of them are told, one line each, and no patch is sent."""

    patch: Patch = NO_PATCH
    warnings: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    code: int = FORBIDDEN
    note: str = ""
    """what was decided, in one word, for logs and metrics: ``queued``, ``ignored``, ``child`` …"""
    queue: str | None = None
    """of a submission: the queue its label or a route names, also where it may not wait there"""

    @property
    def allowed(self) -> bool:
        """False where anything refuses it."""
        return not self.refusals


PASS = Decision(note="ignored")
