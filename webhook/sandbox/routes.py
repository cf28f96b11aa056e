"""From the path of a request to what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webhook.sandbox.resources import NAMESPACES, Resource, resource_at

_OF_NAMESPACES = ("status", "finalize")


@dataclass(frozen=True, slots=True)
class Target:
    """A collection (no name), an object, or a subresource of one."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def label(self) -> str:
        """``jobs`` or ``jobs/status``, as rules and faults name it."""
        plural = self.resource.plural
        return f"{plural}/{self.subresource}" if self.subresource else plural


def target_of(path: str) -> Target | None:
    """What a path names; None when it is not the path of a served resource."""
    parts = [part for part in path.split("/") if part]
    if parts[:2] == ["api", "v1"]:
        return _target("", "v1", parts[2:])
    if len(parts) > 3 and parts[0] == "apis":
        return _target(parts[1], parts[2], parts[3:])
    return None


def _target(group: str, version: str, parts: Sequence[str]) -> Target | None:
    namespace = ""
    if len(parts) > 2 and parts[0] == "namespaces" and parts[2] not in _OF_NAMESPACES:
        namespace, parts = parts[1], parts[2:]
    if not 1 <= len(parts) <= 3:
        return None
    resource = resource_at(group, version, parts[0])
    if resource is None or (namespace and not resource.namespaced):
        return None
    name, subresource = (*parts[1:], "", "")[:2]
    if subresource and subresource not in resource.subresources:
        return None
    if resource is NAMESPACES and name and subresource == "finalize":
        return Target(resource, "", name, subresource)
    if resource.namespaced and name and not namespace:
        return None
    return Target(resource, namespace, name, subresource)
