"""What the loop is told by the cluster: something was seen, something is gone, the list is whole.

Watch events arrive late, twice and out of order; these values carry what is needed to make each idempotent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from webhook.model.kinds import Kind, Object


@dataclass(frozen=True, slots=True)
class Seen:
    """An object as the API server last showed it (listed, added or modified)."""

    kind: Kind
    object: Object


@dataclass(frozen=True, slots=True)
class Gone:
    """An object was deleted, or a fresh list no longer has it; ``object`` is its last known state."""

    kind: Kind
    object: Object


@dataclass(frozen=True, slots=True)
class Synced:
    """A full list of the kind has been delivered: what is known is complete as of ``resource_version``."""

    kind: Kind
    resource_version: str


Event: TypeAlias = Seen | Gone | Synced
