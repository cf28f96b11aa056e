"""An object that shows a finding: built from what is known of it, and only shown after the rules were asked about it.

It can be submitted as it stands: complete, with names a cluster takes. What cannot be built so is not shown; the
finding stands without it, for it rests on a proof. The evaluator is the judge, never this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Final

from webhook.language.conditions import Scope
from webhook.language.expression import Binary, Literal, Name
from webhook.language.lint.facts import Facts, Known
from webhook.language.lint.literals import Constant, Path
from webhook.language.records import dataclass
from webhook.language.schemas import object_shape, shape_of
from webhook.language.shapes import ANY, BOOL, DOUBLE, INT, ListOf, MapOf, Record, Simple
from webhook.model.kinds import BUILT_IN, Key
from webhook.model.quantity import NANO, format_quantity

_LABEL: Final = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_NAME: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_QUALIFIED: Final = re.compile(
    r"(?:[a-z0-9][-a-z0-9.]{0,252}/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)
_MOST_PODS: Final = 10_000
_SIMPLE: Final[Mapping[Simple, Any]] = {INT: 1, DOUBLE: 1, BOOL: True}
_WORDS: Final = ("x", "a", "other", "none-of-these", "x1", "0")


class Unbuildable(Exception):
    """No object that could be submitted as it stands."""


@dataclass(frozen=True, slots=True)
class Witness:
    """An object, and who submits it."""

    object: Mapping[str, Any]
    user: str
    groups: tuple[str, ...]
    scope: Scope

    @property
    def note(self) -> str:
        """As a finding shows it: JSON, which kubectl takes as it is."""
        text = json.dumps(self.object, ensure_ascii=False, separators=(",", ":"))
        by = f", submitted by {self.user}" if self.user != "anyone" else ""
        by += f" of the groups {', '.join(self.groups)}" if self.groups else ""
        return f"witness: {text}{by}"


def build(facts: Facts, *, queue: str | None = None) -> Witness | None:
    """An object of which the facts are true, if they are of the kind that can be built; None otherwise."""
    try:
        return _Builder(facts, queue).build()
    except Unbuildable:
        return None


class _Builder:
    """One object in the making."""

    def __init__(self, facts: Facts, queue: str | None) -> None:
        self.facts = facts
        self.queue = queue
        self.namespace_labels: dict[str, str] = {}
        self.groups: list[str] = []

    def build(self) -> Witness:
        kind = self._kind()
        self.namespace = self._text("namespace", "default", _NAME)
        self.name = self._text("name", "witness", _NAME)
        self.user = self._text("user", "anyone", re.compile(r"[^\s\x00-\x1f]+"))
        self.object: dict[str, Any] = {
            "apiVersion": next(k.api_version for k in BUILT_IN if k.name == kind),
            "kind": kind,
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": {},
        }
        pods = self._pods()
        requests = self._requests()
        self._fill(kind, pods, requests)
        self._queue_label()
        for path, known in self.facts.known.items():
            self._place(path, known)
        self._groups()
        self._without()
        if self.object["metadata"].get("name") != self.name:
            raise Unbuildable
        return Witness(
            self.object, self.user, tuple(self.groups), self._scope(kind, pods, requests)
        )

    def _kind(self) -> str:
        known = self.facts.about(("kind",))
        names = [k.name for k in BUILT_IN if known.allows(("str", k.name))]
        if not names:
            raise Unbuildable
        return names[0]

    def _text(self, root: str, default: str, form: re.Pattern[str]) -> str:
        known = self.facts.known.get((root,))
        value = pick(known, default, form=form) if known is not None else ("str", default)
        text = value[1]
        if not isinstance(text, str):
            raise Unbuildable
        return text

    def _pods(self) -> int:
        known = self.facts.known.get(("pods",))
        value = pick(known, 1)[1] if known is not None else 1
        if not isinstance(value, int) or not 0 <= value <= _MOST_PODS:
            raise Unbuildable
        return value

    def _requests(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for path, known in self.facts.known.items():
            if path[0] == "requests":
                value = pick(known, 0, step=_step(str(path[1])))[1]
                if not isinstance(value, int):
                    raise Unbuildable
                found[str(path[1])] = value
        return found

    def _fill(self, kind: str, pods: int, requests: dict[str, int]) -> None:
        each: dict[str, str] = {}
        for resource, amount in requests.items():
            if amount and (pods == 0 or amount % pods or (amount // pods) % _step(resource)):
                raise Unbuildable
            if amount:
                each[resource] = format_quantity(amount // pods, resource)
        container: dict[str, Any] = {"name": "main", "image": "busybox"}
        if each:
            extended = {r: q for r, q in each.items() if "/" in r}
            container["resources"] = {"requests": each} | ({"limits": extended} if extended else {})
        template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
        spec: dict[str, Any] = {"template": template}
        if pods != 1:
            spec |= {"parallelism": pods, "completions": pods}
        if kind == "JobSet":
            spec = {"replicatedJobs": [{"name": "main", "replicas": 1, "template": {"spec": spec}}]}
        self.object["spec"] = spec

    def _queue_label(self) -> None:
        known = self.facts.known.get(("queue",))
        name = pick(known, "")[1] if known is not None else self.queue
        if name:
            self.queue = str(name)
            self._labels("labels")[Key.QUEUE] = str(name)

    def _place(self, path: Path, known: Known) -> None:
        root, rest = path[0], path[1:]
        if root in ("namespace", "name", "user", "kind", "pods", "requests", "queue"):
            return
        if root in ("labels", "annotations") and len(rest) == 1:
            self._labels(str(root))[str(rest[0])] = str(self._string(known, str(root)))
        elif root == "namespaceObject":
            self._namespace_field(rest, known)
        elif root == "object" and rest:
            self._field(rest, known)
        elif rest or root not in ("object", "labels", "annotations"):
            raise Unbuildable

    def _labels(self, where: str) -> dict[str, str]:
        labels: dict[str, str] = self.object["metadata"].setdefault(where, {})
        return labels

    def _string(self, known: Known, where: str = "labels") -> str:
        value = pick(known, "x", form=_LABEL if where == "labels" else None)[1]
        if not isinstance(value, str):
            raise Unbuildable
        return value

    def _namespace_field(self, rest: Path, known: Known) -> None:
        if rest[:2] != ("metadata", "labels") or len(rest) != 3:
            raise Unbuildable
        self.namespace_labels[str(rest[2])] = self._string(known)

    def _field(self, rest: Path, known: Known) -> None:
        """Set a field of the object, making what it stands in."""
        holder: Any = self.object
        for part in rest[:-1]:
            if not isinstance(part, str) or not isinstance(holder, MutableMapping):
                raise Unbuildable
            holder = holder.setdefault(part, {})
        last = rest[-1]
        if not isinstance(last, str) or not isinstance(holder, MutableMapping):
            raise Unbuildable
        silent = known.values is None and not (known.number or known.text or known.excluded)
        if silent and last in holder:
            return
        default = _default(self.object["kind"], rest)
        holder[last] = default if silent else pick(known, default)[1]

    def _groups(self) -> None:
        for opaque in self.facts.opaques:
            match opaque.node:
                case Binary(
                    operator="in", left=Literal(value=str(group)), right=Name(name="groups")
                ):
                    if opaque.holds:
                        self.groups.append(group)
                case _:
                    pass

    def _without(self) -> None:
        """What has to be absent is taken out again, if it was ever there."""
        for path in (*self.facts.absent, *self.facts.missing):
            holder: Any = self.object
            rest = path[1:] if path[0] == "object" else ("metadata", *path)
            for part in rest[:-1]:
                holder = holder.get(part) if isinstance(holder, Mapping) else None
            if isinstance(holder, MutableMapping):
                holder.pop(rest[-1], None)

    def _scope(self, kind: str, pods: int, requests: dict[str, int]) -> Scope:
        about = self.object["metadata"]
        labels, annotations = about.get("labels", {}), about.get("annotations", {})
        if not all(
            _QUALIFIED.fullmatch(key) for key in (*labels, *annotations, *self.namespace_labels)
        ):
            raise Unbuildable
        own = {"kubernetes.io/metadata.name": self.namespace}
        namespace = {"metadata": {"name": self.namespace, "labels": own | self.namespace_labels}}
        request = {
            "operation": "CREATE", "namespace": self.namespace, "name": self.name,
            "userInfo": {"username": self.user, "groups": self.groups},
        }  # fmt: skip
        return Scope(
            object=self.object, old_object=None, request=request, namespace_object=namespace,
            namespace=self.namespace, name=self.name, kind=kind, labels=labels, annotations=annotations,
            user=self.user, groups=tuple(self.groups), queue=self.queue, priority=None,
            pods=self._counted(kind, pods), requests=requests,
        )  # fmt: skip

    def _counted(self, kind: str, pods: int) -> int:
        """What a field of the object may have changed since is no longer known here."""
        spec = self.object["spec"]
        if kind == "Job" and spec.get("parallelism", 1) != pods:
            raise Unbuildable
        return pods


def _step(resource: str) -> int:
    """Amounts come in these steps: extended resources and bytes whole, cpu in thousandths."""
    return NANO // 1000 if resource == "cpu" else NANO


def _default(kind: str, rest: Path) -> Any:
    """A value for a field of which only that it is there is known, by the kind's schema."""
    shape = object_shape([each for each in BUILT_IN if each.name == kind])
    for part in rest:
        match shape:
            case Record(fields=fields) if part in fields:
                shape = shape_of(fields[str(part)])
            case MapOf(value=value):
                shape = value
            case _:
                shape = ANY
    match shape:
        case Record() | MapOf():
            return {}
        case ListOf():
            return []
        case _:
            return _SIMPLE.get(shape, "x") if isinstance(shape, Simple) else "x"


def pick(
    known: Known, default: Any, *, step: int = 1, form: re.Pattern[str] | None = None
) -> Constant:
    """A value that is allowed and of this form, the simplest first. Raises Unbuildable."""
    for value in _candidates(known, default, step):
        fits = form is None or form.fullmatch(str(value[1])) is not None
        if fits and known.allows(value):
            return value
    raise Unbuildable


def _candidates(known: Known, default: Any, step: int) -> Iterator[Constant]:
    possible = known.possible()
    if possible is not None:
        yield from sorted(possible, key=lambda value: (value[0], str(value[1])))
        return
    if isinstance(default, bool):
        yield from (("bool", default), ("bool", not default))
    elif known.number or isinstance(default, int):
        yield from _numbers(known, default if isinstance(default, int) else 0, step)
    if not known.number:
        yield from (("str", text) for text in _texts(known, default))
        yield from (("num", number) for number in (1, 2, 3) if not known.text)


def _numbers(known: Known, default: int, step: int) -> Iterator[Constant]:
    yield "num", default
    for bound, sign in ((known.low, 1), (known.high, -1)):
        if bound is not None:
            near = int(bound) // step * step
            for number in range(-1, 4):
                yield "num", near + sign * number * step
    for number in range(1, 8):
        yield "num", number * step


def _texts(known: Known, default: Any) -> Iterator[str]:
    if isinstance(default, str) and not known.shapes:
        yield default
    longest = {
        how: max((t for h, t in known.shapes if h == how), key=len, default="")
        for how in ("startsWith", "endsWith")
    }
    start, end = longest["startsWith"], longest["endsWith"]
    inner = "".join(t for h, t in sorted(known.shapes) if h == "contains")
    yield start + inner + end
    for word in _WORDS:
        yield word + start + inner + end if not start else start + word + inner + end
        yield start + inner + word + end
        yield start + inner + end + (word if not end else "")


def shown(witness: Witness | None) -> tuple[str, ...]:
    """The notes of a finding that has a witness, or none."""
    return (witness.note,) if witness is not None else ()
