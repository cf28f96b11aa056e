"""How many pods a Job is to run: what its spec says, what its user asks for beyond that, and how few will do.

A Job may start with fewer pods than asked, and may have been held where it was when its user wanted more. What was
asked for then stands in the annotation ``tidegate.dev/wanted``, and the spec says what is granted. Only parallelism
is ever lowered for a start in part: with fewer completions the work of some indexes would never be done.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from webhook.model.kinds import Key, Object
from webhook.model.patch import Patch, drop, put
from webhook.workloads.objects import BadObject, count, mapping, notes

FIELDS = ("parallelism", "completions")
_NOTE = ("metadata", "annotations", Key.WANTED)
_MOST = 2**31 - 1
_NUMBER = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)


def fewest(obj: Object) -> int | None:
    """With how many pods it may start, as its user says; None: only with all. Junk says nothing."""
    text = notes(obj).get(Key.MIN_PARALLELISM)
    found = isinstance(text, str) and _NUMBER.fullmatch(text)
    return min(int(found.group()), _MOST) if found else None


def check_fewest(obj: Object) -> None:
    """Raises BadObject for an annotation that is no number of pods: whoever wrote it relies on it."""
    text = notes(obj).get(Key.MIN_PARALLELISM)
    if text is not None and fewest(obj) is None:
        raise BadObject(f"metadata.annotations[{Key.MIN_PARALLELISM}]", "want a number from 1 up")


def wanted_of(obj: Object) -> Mapping[str, int]:
    """Counts the user asks for beyond what is granted, by field of the spec; empty without a note of ours."""
    text = notes(obj).get(Key.WANTED)
    try:
        body = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return {}
    if not isinstance(body, dict):
        return {}
    return {
        field: body[field]
        for field in FIELDS
        if type(body.get(field)) is int and 0 <= body[field] <= _MOST
    }


def render_wanted(counts: Mapping[str, int]) -> str:
    """The annotation's text."""
    return json.dumps(
        {field: counts[field] for field in FIELDS if field in counts}, separators=(",", ":")
    )


def asked(obj: Object) -> Object:
    """The object as its user wants it, were there quota for all."""
    wanted = wanted_of(obj)
    return {**obj, "spec": {**mapping(obj, "spec"), **wanted}} if wanted else obj


def resized(obj: Object, pods: int, most: int) -> Patch:
    """Operations after which it runs ``pods`` at once of the ``most`` it asks for, and what is still asked is noted."""
    spec, wanted = mapping(obj, "spec"), mapping(asked(obj), "spec")
    if pods >= most:
        whole = {field: wanted[field] for field in FIELDS if wanted.get(field) is not None}
        return (*_written(obj, spec, whole), *drop(obj, _NOTE))
    now = {"parallelism": pods}
    if "completions" in wanted_of(obj):
        now["completions"] = (
            pods  # an elastic one, whose counts the API server lets change together only
        )
    note = {"parallelism": count(wanted, "parallelism", 1, "spec"), **wanted_of(obj)}
    return (*_written(obj, spec, now), *put(obj, _NOTE, render_wanted(note)))


def _written(obj: Object, spec: Mapping[str, Any], counts: Mapping[str, Any]) -> Patch:
    changes = (
        put(obj, ("spec", field), value)
        for field, value in counts.items()
        if spec.get(field) != value
    )
    return tuple(op for patch in changes for op in patch)
