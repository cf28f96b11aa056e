"""How often a workload was passed over: starts in its first-fit queue of those who stand behind it.

Under first-fit a large workload may wait long while small ones go by, and its owner shall see that.
Nothing is written to those who wait: a queue keeps the places of the latest such starts in order,
and a workload the count of them behind its own place when it joined the line.
"""

from __future__ import annotations

from bisect import bisect_right, insort

from webhook.quota.line import Place

MOST = 1024


class Passes:
    """The starts of one queue that passed somebody over."""

    __slots__ = ("_dropped", "_dropped_from", "_places")

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._dropped = 0
        self._dropped_from: Place | None = None
        """The first of the places that are counted but no longer kept."""

    def note(self, place: Place, first: Place | None) -> None:
        """A start from that place; ``first`` is the place of the first who still waits."""
        if first is None or (self._dropped_from is not None and self._dropped_from < first):
            self._dropped, self._dropped_from = 0, None
        if first is None:
            self._places.clear()
            return
        del self._places[: bisect_right(self._places, first)]
        if first < place:
            insort(self._places, place)
        if len(self._places) > MOST:
            self._thin()

    def _thin(self) -> None:
        """Forget the half farthest behind, but not how many: who waits longest is told exactly."""
        half = MOST // 2
        self._dropped += len(self._places) - half
        lowest = self._places[half]
        known = self._dropped_from
        self._dropped_from = lowest if known is None else min(known, lowest)
        del self._places[half:]

    def behind(self, place: Place) -> int:
        """How many started from behind that place: less than there were, if it is far behind itself."""
        kept = len(self._places) - bisect_right(self._places, place)
        far = self._dropped_from is not None and place < self._dropped_from
        return kept + self._dropped if far else kept
