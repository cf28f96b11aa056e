"""Which adapter reads which kind, and what every root and child is told by.

A child is what has a controller owner reference to a live object of a managed kind that would have made it: right
uid, right name, no more than the template. A copied uid alone proves nothing, everybody in a namespace can read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from webhook.model.kinds import Kind, Object
from webhook.workloads.adapter import Adapter
from webhook.workloads.job import JobAdapter
from webhook.workloads.jobset import JobSetAdapter
from webhook.workloads.objects import metadata, sequence

ADAPTERS: Mapping[str, Adapter] = {
    adapter.kind.name: adapter for adapter in (JobAdapter(), JobSetAdapter())
}
"""By the name a policy uses for the kind."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A controller owner reference to a kind we read."""

    kind: Kind
    name: str
    uid: str


def adapter_for(group: str, kind: str) -> Adapter | None:
    """The adapter of a kind as the API server names it; None for kinds we do not manage."""
    adapter = ADAPTERS.get(kind)
    return adapter if adapter is not None and adapter.kind.group == group else None


def controller_of(obj: Object) -> Owner | None:
    """The object's controller, where it is of a kind we read; any other owner makes nobody a child."""
    for reference in sequence(metadata(obj), "ownerReferences", "metadata"):
        if reference.get("controller") is not True:
            continue
        group, _, _ = str(reference.get("apiVersion") or "").rpartition("/")
        adapter = adapter_for(group, str(reference.get("kind") or ""))
        if adapter is not None:
            return Owner(adapter.kind, str(reference.get("name")), str(reference.get("uid")))
    return None


def is_child(child: Object, child_kind: Kind, parent: Object | None, owner: Owner) -> bool:
    """Whether the live object ``parent``, found by ``owner``, made this child. Raises BadObject."""
    if parent is None or metadata(parent).get("uid") != owner.uid:
        return False
    adapter = ADAPTERS[owner.kind.name]
    named = metadata(parent).get("name") == owner.name
    # where another controller runs the parent, nobody makes children here, and nobody charges it for them
    return named and adapter.ours(parent) and adapter.makes(parent, child, child_kind)
