"""The core: sights of workloads go in, plans come out.

Everything that decides by quota drives this one class: the live loop, simulations, a policy's own
tests. It reads no clock and writes nothing; it remembers what was seen last and what it has
granted, and nothing that a fresh list of the cluster would not bring back.
"""

from __future__ import annotations

from webhook.model.queues import Quotas
from webhook.model.workload import Uid, Workload
from webhook.quota.news import Plan, QueueStatus
from webhook.quota.reasons import Reason


class Core:
    """Queues, who waits in them and what is held, for one policy at a time.

    Life of a workload: ``see`` it waiting → ``plan`` returns its start, which is charged from then
    on → the loop writes it and calls ``confirm`` (or ``refused``) → ``see`` it started → ``see``
    it stopping or finished, or ``forget`` it.
    """

    def __init__(self, quotas: Quotas) -> None:
        raise NotImplementedError

    @property
    def quotas(self) -> Quotas:
        """The policy in force."""
        raise NotImplementedError

    def see(self, workload: Workload) -> None:
        """Take in a workload as the cluster shows it; its phase says what becomes of it.

        Idempotent by uid. A sight older than the last one of the same uid is ignored (resource
        versions compare as numbers). While a start of ours is unconfirmed, a sight as waiting
        does not release its charge unless it is newer than the write ``confirm`` told of.
        """
        raise NotImplementedError

    def forget(self, uid: Uid) -> None:
        """The object is gone and so are its pods: whatever it held is free. Unknown uids are fine."""
        raise NotImplementedError

    def confirm(self, uid: Uid, resource_version: str) -> None:
        """The start was written, as this version of the object.

        It stays charged until a sight shows it started, or shows it waiting in a newer version.
        """
        raise NotImplementedError

    def refused(self, uid: Uid, until: float) -> None:
        """The start was not written: give back its charge; it waits again, in backoff till then.

        In backoff it blocks nobody, not even a strict queue; it keeps its place in the line.
        Without a start to take back (a planned or waiting one), it is only the backoff.
        """
        raise NotImplementedError

    def replace(self, quotas: Quotas) -> None:
        """Change the policy: everything known is judged anew; starts of ours stay charged."""
        raise NotImplementedError

    def plan(self, now: float) -> Plan:
        """One pass: decide to the fixed point, then start what fits beside what is stopping."""
        raise NotImplementedError

    def reason(self, uid: Uid, now: float) -> Reason:
        """Why it does not run, as things stand now; ``Because.STARTED`` if it does."""
        raise NotImplementedError

    def ahead(self, queue: str, priority: int) -> int:
        """How many in the line would go before a newcomer of this priority."""
        raise NotImplementedError

    def status(self) -> tuple[QueueStatus, ...]:
        """How every queue stands; its cost does not depend on how many wait."""
        raise NotImplementedError

    def unconfirmed(self) -> tuple[Uid, ...]:
        """Starts that no sight has shown yet, oldest first: the loop asks again after a while."""
        raise NotImplementedError

    def orphans(self) -> tuple[Workload, ...]:
        """Workloads whose queue the policy does not have: charged nowhere, never started."""
        raise NotImplementedError
