"""Label and field selectors, read once into a predicate.

The grammar is that of Kubernetes: ``a=b``, ``a!=b``, ``a in (b,c)``, ``a notin (b)``, ``a``,
``!a``, ``a>1``. A field selector may name only the fields the real server indexes for the kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from webhook.sandbox.resources import Object, Resource
from webhook.sandbox.status import bad_request

Predicate = Callable[[Object], bool]

_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
_SET = re.compile(rf"\s*({_NAME})\s+(in|notin)\s*\(([^()]*)\)\s*", re.ASCII)
_COMPARISON = re.compile(rf"\s*({_NAME})\s*(==|=|!=|>|<)\s*({_VALUE})\s*", re.ASCII)
_EXISTENCE = re.compile(rf"\s*(!?)\s*({_NAME})\s*", re.ASCII)

_EVERYWHERE = frozenset({"metadata.name", "metadata.namespace"})
_INDEXED: Mapping[str, frozenset[str]] = {
    "Pod": frozenset(
        {
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.nominatedNodeName",
            "status.phase",
            "status.podIP",
        }
    ),
    "Namespace": frozenset({"status.phase"}),
    "Node": frozenset({"spec.unschedulable"}),
    "Job": frozenset({"status.successful"}),
    "Secret": frozenset({"type"}),
}
_EVENT_FIELDS = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_EVENT_INDEX = {
    "": frozenset(
        [f"involvedObject.{field}" for field in _EVENT_FIELDS]
        + ["reason", "reportingComponent", "source", "type"]
    ),
    "events.k8s.io": frozenset(
        [f"regarding.{field}" for field in _EVENT_FIELDS]
        + ["reason", "reportingController", "type"]
    ),
}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One comma-separated part of a label selector."""

    key: str
    operator: str  # in, notin, exists, !, >, <
    values: frozenset[str] = frozenset()

    def accepts(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value is not None and value in self.values
            case "notin":
                return value is None or value not in self.values
            case "exists":
                return value is not None
            case "!":
                return value is None
        return value is not None and _ordered(value, self.operator, next(iter(self.values)))


def _ordered(value: str, operator: str, bound: str) -> bool:
    try:
        return int(value) > int(bound) if operator == ">" else int(value) < int(bound)
    except ValueError:
        return False


def label_requirements(selector: str) -> list[Requirement]:
    """The parts of a label selector; raises StatusError 400."""
    return [_requirement(part, selector) for part in _split(selector)] if selector else []


def label_predicate(selector: str) -> Predicate | None:
    """A test for a label selector, None when it selects everything; raises StatusError 400."""
    requirements = label_requirements(selector)
    if not requirements:
        return None

    def selected(obj: Object) -> bool:
        labels = obj["metadata"].get("labels") or {}
        return all(requirement.accepts(labels) for requirement in requirements)

    return selected


def _split(selector: str) -> list[str]:
    """Split at the commas outside parentheses."""
    return re.split(r",(?![^(]*\))", selector)


def _requirement(text: str, selector: str) -> Requirement:
    if found := _SET.fullmatch(text):
        values = frozenset(value.strip() for value in found[3].split(","))
        return Requirement(found[1], found[2], values)
    if found := _COMPARISON.fullmatch(text):
        operator = {"=": "in", "==": "in", "!=": "notin"}.get(found[2], found[2])
        return Requirement(found[1], operator, frozenset({found[3]}))
    if found := _EXISTENCE.fullmatch(text):
        return Requirement(found[2], found[1] or "exists")
    raise bad_request(f"unable to parse requirement: found {text!r} in selector {selector!r}")


def field_predicate(resource: Resource, selector: str) -> Predicate | None:
    """A test for a field selector; raises StatusError 400 for a field that is not indexed."""
    terms = [_term(resource, part, selector) for part in selector.split(",") if part.strip()]
    if not terms:
        return None

    def selected(obj: Object) -> bool:
        return all((field_of(obj, path) == value) is wanted for path, wanted, value in terms)

    return selected


def _term(resource: Resource, text: str, selector: str) -> tuple[str, bool, str]:
    found = re.fullmatch(r"\s*([\w.]+?)\s*(==|=|!=)(.*)", text, re.ASCII)
    if not found:
        raise bad_request(f"invalid selector: '{selector}'; can't understand '{text}'")
    path = found[1]
    if path not in indexed_fields(resource):
        raise bad_request(_unindexed(resource, path))
    return path, found[2] != "!=", found[3].strip()


def _unindexed(resource: Resource, path: str) -> str:
    if resource.kind == "Job":
        return f'field label "{path}" not supported for Job'
    if resource.custom or indexed_fields(resource) != _EVERYWHERE:
        return f"field label not supported: {path}"
    known = '"metadata.name", "metadata.namespace"'
    return f'"{path}" is not a known field selector: only {known}'


def indexed_fields(resource: Resource) -> frozenset[str]:
    """The fields a selector may name."""
    if resource.kind == "Event":
        return _EVERYWHERE | _EVENT_INDEX[resource.group]
    return _EVERYWHERE | _INDEXED.get(resource.kind, frozenset())


def field_of(obj: Object, path: str) -> str:
    """The value at a dotted path as a string; what is absent is empty."""
    if path == "status.successful":
        return str((obj.get("status") or {}).get("succeeded", 0))
    if path == "source":
        return str((obj.get("source") or {}).get("component", ""))
    value: object = obj
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if isinstance(value, bool) or (value is None and path == "spec.unschedulable"):
        return "true" if value else "false"
    return "" if value is None else str(value)
