"""Edits at random, as somebody makes them who wants to run without quota, and what the API server makes of them."""

from __future__ import annotations

import copy
from typing import Any, TypeAlias

import jsonpatch
from hypothesis import strategies as st

from webhook.model.kinds import Key

Object: TypeAlias = dict[str, Any]
Edit: TypeAlias = tuple[tuple[str, str, Any], ...]

KEYS = (Key.SUBMITTED, Key.SUBMITTED_BY, Key.ADMISSION, Key.EVICTED, Key.WANTED, Key.HOLD)
OTHER = "kueue.x-k8s.io/queue-name"
COMPLETE = {"conditions": [{"type": "Complete", "status": "True"}], "succeeded": 99}
OWNER = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "controller": True}
TEXTS = ("", "vision", "small", "no-such", "urgent", "2001-01-01T00:00:00.000000Z", "é…\N{SNOWMAN}")
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _below(kind: str) -> str:
    return "/spec" if kind == "Job" else "/spec/replicatedJobs/0/template/spec"


def _fields(kind: str) -> dict[str, tuple[Any, ...]]:
    """Where an edit goes, and what it may put there."""
    job = _below(kind)
    pod = f"{job}/template/spec"
    fields: dict[str, tuple[Any, ...]] = {
        "/spec/suspend": (True, False, None),
        f"{job}/parallelism": (0, 1, 2, 3, 50),
        f"{job}/completions": (0, 1, 2, 3, 50),
        f"{job}/template/metadata": ({}, {"labels": None}, {"labels": {Key.QUEUE: "small"}}),
        f"{pod}/nodeSelector": (None, {}, {"zone": "a"}, {"accelerator": "h100"}),
        f"{pod}/tolerations": (None, [], [{"key": "own", "operator": "Exists"}]),
        f"{pod}/containers/0/resources/requests/cpu": ("1", "1m", "7"),
        f"{pod}/initContainers": ([{"name": "i", "resources": {"requests": {"cpu": "9"}}}],),
        "/metadata/labels": (None, {}, {"app": "x"}),
        "/metadata/annotations": (None, {}, {"mine": "é"}),
        "/metadata/ownerReferences": (None, [], [OWNER | {"name": "js", "uid": "uid-js"}]),
        "/metadata/deletionTimestamp": ("2027-01-01T00:00:00Z",),
        "/metadata/finalizers": ([], ["x.io/keep"]),
        "/status": (COMPLETE, None, {"active": 0}),
    }
    if kind == "JobSet":
        fields["/spec/replicatedJobs/0/replicas"] = (1, 2, 9)
        fields["/spec/replicatedJobs/0/name"] = ("workers", "others")
    for key in (Key.QUEUE, Key.PRIORITY, OTHER):
        fields[f"/metadata/labels/{_escaped(key)}"] = TEXTS
    for key in KEYS:
        fields[f"/metadata/annotations/{_escaped(key)}"] = TEXTS
    return fields


def edits(kind: str) -> st.SearchStrategy[Edit]:
    """A few operations of a JSON patch; those that do not apply are left out when it comes to it."""
    operation = st.sampled_from(sorted(_fields(kind).items())).flatmap(
        lambda item: st.tuples(
            st.sampled_from(("add", "add", "remove")), st.just(item[0]), st.sampled_from(item[1])
        )
    )
    return st.lists(operation, min_size=1, max_size=5).map(tuple)


def edited(obj: Object, edit: Edit) -> Object:
    """The object as the user would like it, in the words of the mutating call."""
    new = copy.deepcopy(obj)
    for op, path, value in edit:
        step = {"op": op, "path": path} | ({"value": copy.deepcopy(value)} if op == "add" else {})
        try:
            new = jsonpatch.apply_patch(new, [step])
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError):
            continue
    return defaulted(new)


def defaulted(obj: Object) -> Object:
    """Before any webhook is asked, a Job without labels takes over those of its pod template."""
    if obj["kind"] != "Job" or obj["metadata"].get("labels"):
        return obj
    template = (obj["spec"].get("template") or {}).get("metadata") or {}
    if template.get("labels"):
        obj["metadata"]["labels"] = dict(template["labels"])
    return obj


def settled(obj: Object, old: Object) -> Object:
    """What the API server does after the mutating call: status and system fields are as they were."""
    obj = copy.deepcopy(obj)
    for part, was in ((obj, old), (obj["metadata"], old["metadata"])):
        for key in ("status", "deletionTimestamp", "uid", "name", "namespace"):
            part.pop(key, None)
            if key in was:
                part[key] = copy.deepcopy(was[key])
    return obj
