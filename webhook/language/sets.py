"""``set``: where it writes and what, checked. What decides the fate of a workload is not a set's to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from webhook.language.conditions import Condition, compile_condition
from webhook.language.conditions import Names as ConditionNames
from webhook.language.expression import Literal
from webhook.language.paths import Key, Steps, as_expression, keys, read_path
from webhook.language.problems import Problem, problem
from webhook.language.syntax import Assignment, Set, Source, Span
from webhook.model.kinds import Key as Ours

_META: Final = ("name", "generateName", "namespace", "ownerReferences", "finalizers")
_NEVER: Final[Sequence[tuple[str, ...]]] = (
    ("apiVersion",),
    ("kind",),
    ("status",),
    *(("metadata", name) for name in (*_META, "uid", "resourceVersion", "managedFields")),
    ("metadata", "creationTimestamp"),
    ("metadata", "labels"),
    ("metadata", "annotations"),
)
SUSPEND: Final = (("spec", "suspend"),)
_MAPS: Final = (("metadata", "labels"), ("metadata", "annotations"))
_ALLOWED: Final = ("metadata", "labels", Ours.PRIORITY)


def read_assignments(
    node: Set,
    source: Source,
    known: ConditionNames,
    suspended_by: Sequence[tuple[Key, ...]],
    found: list[Problem],
    *,
    complete: bool,
) -> tuple[tuple[tuple[Key, ...], Condition], ...]:
    """Paths and values of a set; those that are wrong are left out. ``complete``: all text could be read."""
    read: list[tuple[tuple[Key, ...], Condition]] = []
    places: dict[tuple[Key, ...], Span] = {}
    for assignment in node.assignments:
        value = _value(assignment, known, found)
        steps = read_path(assignment.path, source)
        if isinstance(steps, Problem):
            found.append(steps)
            continue
        path = keys(steps)
        if not _refused(steps, assignment, suspended_by, found):
            found += compile_condition(as_expression(steps), names=known, want="any")[1]
        first = places.setdefault(path, assignment.path.span)
        if first is not assignment.path.span:
            message = f"`{assignment.path.text}` is written twice"
            others = ((first, "first here"),)
            found.append(problem("TG101", assignment.path.span, message, others=others))
        elif value is not None:
            read.append((path, value))
    if not node.assignments and complete:
        _nothing(node, found)
    return tuple(read)


def _nothing(node: Set, found: list[Problem]) -> None:
    message = f"set `{node.name.text}` writes nothing"
    found.append(problem("TG005", node.name.span, message, help="add `PATH = VALUE`"))


def _value(assignment: Assignment, known: ConditionNames, found: list[Problem]) -> Condition | None:
    value, problems = compile_condition(assignment.value, names=known, want="any")
    found += problems
    if isinstance(assignment.value, Literal) and assignment.value.kind == "null":
        message = "null cannot be written"
        advice = "a set writes values, it removes none"
        found.append(problem("TG510", assignment.value.span, message, help=advice))
    return value


def _refused(
    steps: Steps,
    assignment: Assignment,
    suspended_by: Sequence[tuple[Key, ...]],
    found: list[Problem],
) -> bool:
    """TG510, where a path is not a set's to write."""
    path, text = keys(steps), assignment.path.text
    message, advice = f"a set may not write `{text}`", ""
    ours = next((k for k in path if isinstance(k, str) and k.startswith(Ours.PREFIX)), None)
    if ours is not None:
        if path == _ALLOWED:
            return False
        advice = f'of `{Ours.PREFIX}*` only `metadata.labels["{Ours.PRIORITY}"]` may be written'
    elif path in _MAPS:
        advice = f'name the key: `{text}["KEY"]`'
    elif any(_meets(path, never) for never in suspended_by):
        advice = "whether it is suspended is decided by quota"
    elif any(_meets(path, never) for never in _NEVER if never not in _MAPS):
        advice = "it says what the object is, or is not the submitter's to write"
    else:
        if path not in (("metadata",), ("spec",)):
            return False
        advice = "name the field"
    found.append(problem("TG510", assignment.path.span, message, help=advice))
    return True


def _meets(path: tuple[Key, ...], other: tuple[Key, ...]) -> bool:
    """True where one stands at or inside the other."""
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter] and (len(path) >= len(other) or len(path) > 1)
