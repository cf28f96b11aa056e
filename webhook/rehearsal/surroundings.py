"""What manifests say of the cluster they are for: labels of namespaces, values of PriorityClasses.

A chart often brings its Namespace along; what it says there is believed before anything an option says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webhook.model.kinds import NAMESPACE, PRIORITY_CLASS, Kind, Object
from webhook.rehearsal.submission import PaperCluster


def surroundings(
    objects: Sequence[Object], elsewhere: Mapping[str, str], namespace: str
) -> PaperCluster:
    """The cluster on paper; ``elsewhere`` are the labels of namespaces that no manifest declares."""
    named = {str(obj["metadata"].get("namespace") or namespace) for obj in objects}
    labels = dict.fromkeys(named, elsewhere)
    for obj in objects:
        if _is(obj, NAMESPACE):
            labels[str(obj["metadata"].get("name"))] = _labels(obj)
    classes = {
        str(obj["metadata"].get("name")): obj["value"]
        for obj in objects
        if _is(obj, PRIORITY_CLASS) and isinstance(obj.get("value"), int)
    }
    return PaperCluster(labels, classes)


def _is(obj: Object, kind: Kind) -> bool:
    return obj.get("kind") == kind.name and obj.get("apiVersion") == kind.api_version


def _labels(obj: Object) -> Mapping[str, str]:
    found = obj["metadata"].get("labels")
    pairs = found.items() if isinstance(found, Mapping) else ()
    return {key: value for key, value in pairs if isinstance(value, str)}
