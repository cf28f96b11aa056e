"""The answer to one request, before it is put into words the API server reads."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from webhook.model.patch import NO_PATCH, Patch

FORBIDDEN = 403
LONGEST_LINE = 2000
"""Characters; a label may be as long as a request when a webhook is asked about it."""
WARNING_LIMIT = 400
"""Characters; the API server passes 400 and drops any warning that holds a line end or another control character."""


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
    via: str = ""
    """the route that brought it there, with its place, where that matters"""

    @property
    def cause(self) -> str:
        """What refuses, apart from the numbers of the day: the rule and its place, else the message."""
        return f"{self.rule} {self.place}" if self.place else self.message

    @property
    def line(self) -> str:
        """As the submitter reads it; never more than one line."""
        return one_line(self.message, _source(self.rule, self.place, self.via), LONGEST_LINE)


@dataclass(frozen=True, slots=True)
class Told:
    """What one rule of the policy had to say: ``rule`` is its word and its name, ``warn long-runs``.

    A route without a name goes by its place, an ``accept`` line by its queue.
    """

    rule: str
    place: str
    message: str = ""

    @property
    def line(self) -> str:
        """As the submitter reads it; the rule and its place are always whole."""
        return one_line(self.message, _source(self.rule, self.place), WARNING_LIMIT)


@dataclass(frozen=True, slots=True)
class Account:
    """Which rules had a say in a decision: for counters and logs, and for whoever asks why."""

    route: Told | None = None
    """the one that named the queue; None where a label did"""
    sets: tuple[Told, ...] = ()
    warned: tuple[Told, ...] = ()
    audited: tuple[Told, ...] = ()
    """what rules under ``audit`` would have done"""
    failed: tuple[Told, ...] = ()
    """rules whose condition could not be evaluated, with the reason"""

    def __add__(self, other: Account) -> Account:
        """Both."""
        return Account(
            self.route or other.route,
            self.sets + other.sets,
            self.warned + other.warned,
            self.audited + other.audited,
            self.failed + other.failed,
        )


NO_ACCOUNT = Account()


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
    account: Account = NO_ACCOUNT

    @property
    def allowed(self) -> bool:
        """False where anything refuses it."""
        return not self.refusals


PASS = Decision(note="ignored")


def one_line(message: str, source: str, limit: int) -> str:
    """Both on one line of at most so many characters, without control characters; the message gives way."""
    words = " ".join("".join(" " if _controls(char) else char for char in message).split())
    room = max(0, limit - len(source))
    return (words if len(words) <= room else f"{words[: max(0, room - 1)]}…") + source


def _controls(char: str) -> bool:
    """A character that an HTTP header cannot carry; a terminal would obey it."""
    return char < " " or "\x7f" <= char <= "\x9f"


def _source(rule: str, place: str, via: str = "") -> str:
    if not place:
        return ""
    said = " ".join(part for part in (rule, place) if part)
    return f" ({'; '.join(part for part in (said, via) if part)})"
