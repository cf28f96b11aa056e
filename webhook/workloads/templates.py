"""What a start writes into pod templates, how it is taken out again, and how a re-apply is kept from dropping it.

Node selectors and tolerations are atomic in server-side apply, ``replicatedJobs`` is a list a merge patch replaces
whole: without ``restored`` a GitOps tool that re-applies its manifest would be refused by the API server for ever,
because templates of started workloads are immutable (facts: tried on 1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from webhook.model.kinds import Object
from webhook.model.patch import NO_PATCH, Patch, drop, put
from webhook.model.queues import Flavor
from webhook.model.workload import Injected
from webhook.workloads.objects import mapping, sequence

Path: TypeAlias = tuple[str | int, ...]
"""Where a pod template stands in its object."""


def template_at(obj: Object, path: Path) -> Mapping[str, Any] | None:
    """The pod template at a path; None where there is none."""
    here: Any = obj
    for part in path:
        try:
            here = here[part]
        except (LookupError, TypeError):
            return None
    return here if isinstance(here, Mapping) else None


def inject(
    obj: Object, path: Path, earlier: Injected, flavors: Iterable[Flavor]
) -> tuple[Patch, Injected]:
    """Operations that leave the template as its owner wrote it plus what the flavors ask for, and what was added."""
    spec = _spec(obj, path)
    selector = own_selector(spec, earlier)
    tolerations = _own_tolerations(spec, earlier)
    nodes: dict[str, str] = {}
    added: list[Mapping[str, Any]] = []
    for flavor in flavors:
        nodes |= {key: value for key, value in flavor.nodes.items() if key not in selector}
        wanted = [_toleration(t.key, t.value, t.effect) for t in flavor.tolerations]
        added += [item for item in wanted if item not in tolerations and item not in added]
    patch = _write(obj, (*path, "spec", "nodeSelector"), {**selector, **nodes})
    patch += _write(obj, (*path, "spec", "tolerations"), [*tolerations, *added])
    return patch, Injected(nodes, tuple(added))


def restored(old: Object, new: Object, old_path: Path, new_path: Path, injected: Injected) -> Patch:
    """Operations that put back into ``new`` what a start injected and a re-apply dropped."""
    before, now = _spec(old, old_path), _spec(new, new_path)
    selector, kept = mapping(now, "nodeSelector"), mapping(before, "nodeSelector")
    lost = {k: v for k, v in injected.nodes.items() if kept.get(k) == v and k not in selector}
    patch = (
        put(new, (*new_path, "spec", "nodeSelector"), {**selector, **lost}) if lost else NO_PATCH
    )
    tolerations, had = sequence(now, "tolerations"), sequence(before, "tolerations")
    missing = [dict(t) for t in injected.tolerations if t in had and t not in tolerations]
    if missing:
        whole = _in_old_order(had, tolerations, missing)
        patch += put(new, (*new_path, "spec", "tolerations"), whole)
    return patch


def labelled(obj: Object, path: Path, marks: Mapping[str, str]) -> Patch:
    """Operations that put labels on a pod template: by them pods are found when their owner is gone."""
    here, about = (*path, "metadata", "labels"), mapping(template_at(obj, path) or {}, "metadata")
    if not mapping(about, "labels"):
        return put(obj, here, dict(marks))
    return tuple(op for key, value in marks.items() for op in put(obj, (*here, key), value))


def _in_old_order(before: list[Any], now: list[Any], missing: list[Any]) -> list[Any]:
    """The old list where the new one is the old one less what was injected; else the new one and what it misses."""
    owners = [item for item in before if item not in missing]
    return before if owners == now else [*now, *missing]


def own_selector(spec: Mapping[str, Any], injected: Injected, path: str = "") -> dict[str, str]:
    """The node selector of a pod spec less what a start injected: what its owner asks for. Raises BadObject."""
    return {
        key: value
        for key, value in mapping(spec, "nodeSelector", path).items()
        if injected.nodes.get(key) != value
    }


def _own_tolerations(spec: Mapping[str, Any], injected: Injected) -> list[Any]:
    tolerations = list(sequence(spec, "tolerations"))
    for item in injected.tolerations:
        if item in tolerations:
            tolerations.remove(item)
    return tolerations


def _write(obj: Object, path: Path, value: Mapping[str, str] | Sequence[Any]) -> Patch:
    """The operations that leave ``value`` at the path, which goes when it becomes empty."""
    if value:
        return put(obj, path, value)
    return drop(obj, path) if _spec(obj, path[:-2]).get(str(path[-1])) else NO_PATCH


def _spec(obj: Object, path: Path) -> Mapping[str, Any]:
    spec = (template_at(obj, path) or {}).get("spec")
    return spec if isinstance(spec, Mapping) else {}


def _toleration(key: str, value: str | None, effect: str) -> dict[str, str]:
    toleration = {"key": key, "operator": "Exists" if value is None else "Equal"}
    if value is not None:
        toleration["value"] = value
    return toleration | ({"effect": effect} if effect else {})
