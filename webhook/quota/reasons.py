"""Why a workload does not run: one kind, the numbers behind it, and one line of text.

Whoever shows it (a warning at submission, ``why``, a metric) takes the text; whoever decides by it
takes the fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum

from webhook.model.quantity import Amount, format_quantity
from webhook.model.queues import DEFAULT_FLAVOR
from webhook.model.workload import Uid, Workload
from webhook.quota.limits import OverLimit


class Because(Enum):
    """The kinds, spelled as a policy's tests spell them; the last three are no reason to wait."""

    QUOTA = "quota"
    LIMIT = "limit"
    ORDER = "order"
    HOLD = "hold"
    VICTIMS = "victims"
    BACKOFF = "backoff"
    NEVER_FITS = "never-fits"
    QUEUE_GONE = "queue-gone"
    STARTED = "started"
    STOPPING = "stopping"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Lack:
    """What is missing of one flavor and resource: ``free`` of ``out_of`` where ``asked`` is needed.

    ``held_back`` would be free as well, but a blocked strict queue keeps it. ``free`` below 0 is
    "over by": more is held than the policy grants today.
    """

    flavor: str
    resource: str
    asked: Amount
    free: Amount
    out_of: Amount
    held_back: Amount = 0

    @property
    def missing(self) -> Amount:
        """How much more would have to be free."""
        return self.asked - self.free

    @property
    def asks(self) -> str:
        """``8 nvidia.com/gpu``."""
        return f"{format_quantity(self.asked, self.resource)} {self.resource}"

    @property
    def text(self) -> str:
        """``3 free of 64``, with the flavor where it has a name."""
        free = format_quantity(max(0, self.free), self.resource)
        where = "" if self.flavor == DEFAULT_FLAVOR else f" on {self.flavor}"
        also = ""
        if self.free < 0:
            also = f", over by {format_quantity(-self.free, self.resource)}"
        elif self.held_back:
            also = f", {format_quantity(self.held_back, self.resource)} held back for others"
        return f"{free} free of {format_quantity(self.out_of, self.resource)}{where}{also}"


@dataclass(frozen=True, slots=True)
class Reason:
    """The answer of ``Core.reason``. Fields that do not belong to the kind are empty.

    ``lacks`` has one entry a flavor that was tried, its scarcest resource; ``behind`` is the
    workload it waits behind; ``ahead`` counts those before it in its queue; ``until`` is seconds
    since the epoch. ``over`` is the bound that stops it.
    """

    kind: Because
    text: str
    lacks: tuple[Lack, ...] = ()
    behind: Uid | None = None
    ahead: int = 0
    until: float | None = None
    over: OverLimit | None = None
    passed_over: int = 0
    passed_since: float | None = None

    @property
    def passes(self) -> str:
        """``passed over 3 times since 2026-11-01T10:00:00Z``; empty if it was not."""
        if self.passed_since is None:
            return ""
        times = "once" if self.passed_over == 1 else f"{self.passed_over} times"
        since = datetime.fromtimestamp(self.passed_since, UTC)
        return f"passed over {times} since {since:%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True, slots=True)
class Next:
    """Somebody at the front of a queue, and how many stand behind who ask for the same."""

    workload: Workload
    alike: int
    reason: Reason
