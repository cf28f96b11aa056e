"""What every kind can be asked. One adapter a kind; the webhook and the loop know nothing else about kinds.

Adapters are pure: an object in, a value or a patch out. They never remember an earlier sight of an object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from webhook.model.kinds import Kind, Object
from webhook.model.patch import Patch
from webhook.model.workload import PodSet, Workload
from webhook.workloads.templates import Path


@dataclass(frozen=True, slots=True)
class Growth:
    """A started workload that asks for more pods than it was granted, and the operations that put its counts back.

    Without operations it cannot be put back, only refused.
    """

    was: int
    wants: int
    patch: Patch


class Adapter(Protocol):
    """How one kind is read, and where its fields stand."""

    @property
    def kind(self) -> Kind:
        """The kind it reads."""

    def ours(self, obj: Object) -> bool:
        """False where another controller runs it (``managedBy``): nobody says that one obeys suspend as we need."""

    def suspended(self, obj: Object) -> bool:
        """Whether its suspend field stands at true."""

    def finished(self, obj: Object) -> bool:
        """Done for good, whatever its suspend field says."""

    def pod_sets(self, obj: Object) -> tuple[PodSet, ...]:
        """What it asks for from the beginning. Raises BadObject."""

    def read(
        self, obj: Object, *, queue: str, priority: int, children: Sequence[Object] = ()
    ) -> Workload:
        """The workload it is now; ``children`` are the live objects it made itself. Raises BadObject."""

    def templates(self, obj: Object) -> Mapping[str, Path]:
        """Pod set name → where its pod template stands."""

    def template_open(self, obj: Object) -> bool:
        """Whether the API server still lets its pod templates' labels change."""

    def reopening(self, obj: Object) -> Patch:
        """Operations on its status after which its templates may change again; none where they may, or never will."""

    def succeeded(self, obj: Object) -> Mapping[str, int]:
        """Pod set name → pods of it that have succeeded, where that count outlives a stop."""

    def resized(self, obj: Object, pods: Mapping[str, int]) -> Patch:
        """Operations after which so many pods of each set run at once, what is asked beyond noted; none if they do."""

    def grown(self, old: Object, new: Object) -> Growth | None:
        """What a started one asks for on top of what it has; None if nothing."""

    def makes(self, parent: Object, child: Object, child_kind: Kind) -> bool:
        """Whether ``parent`` would make this very object: name, index, and no more than its template asks."""
