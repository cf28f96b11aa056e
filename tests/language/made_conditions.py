"""Makes conditions as people write them, and requests to ask them of: the same for the same seed.

Texts are grown by type, so that most of them compile; the fields are those of Jobs and namespaces, some absent.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

CONTAINERS: list[dict[str, Any]] = [
    {"name": "main", "image": "registry.example.com/train:1", "resources": {"requests": {"cpu": "500m"}}},
    {"name": "side", "image": "docker.io/proxy", "resources": {"limits": {"memory": "1Gi"}}},
    {"name": "log", "args": ["--level", "3"], "env": [{"name": "A", "value": "1"}, {"name": "B"}]},
]  # fmt: skip
POD: dict[str, Any] = {
    "containers": CONTAINERS,
    "nodeSelector": {"zone": "a", "disk": "ssd"},
    "tolerations": [{"key": "gpu", "operator": "Exists"}, {"effect": "NoSchedule"}],
    "terminationGracePeriodSeconds": 30,
    "hostNetwork": False,
}
JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {
        "name": "train",
        "namespace": "vision-prod",
        "labels": {"team": "vision", "app": "näive"},
        "annotations": {"note": "a\nb"},
    },
    "spec": {
        "parallelism": 4,
        "completions": 8,
        "suspend": True,
        "backoffLimit": 0,
        "completionMode": "Indexed",
        "template": {"metadata": {"labels": {"team": "vision"}}, "spec": POD},
    },
}
REQUEST: dict[str, Any] = {
    "operation": "CREATE",
    "dryRun": False,
    "namespace": "vision-prod",
    "userInfo": {"username": "ana", "groups": ["ml", "staff"]},
}
NAMESPACE: dict[str, Any] = {
    "metadata": {"name": "vision-prod", "labels": {"team": "vision", "tier": "gold"}}
}

TEXTS = [
    "vision",
    "team",
    "ml",
    "a",
    "",
    "ana",
    "train",
    "näive",
    "registry.example.com/",
    "Job",
    "main",
    "1Gi",
]
PATTERNS = [
    "^tr[a-z]+$",
    "in",
    "^$",
    r"\\d+",
    "[äöü]",
    "(?i)VISION",
    "a|m",
    "^(ml|staff)$",
    ".",
    "^registry[.]",
]
KEYS = ["team", "app", "nope", "zone", "tier"]


@dataclass(frozen=True)
class Asked:
    """What a condition is asked of, under the names it has."""

    object: dict[str, Any]
    old_object: dict[str, Any] | None
    request: dict[str, Any]
    namespace_object: dict[str, Any]

    def variables(self) -> dict[str, Any]:
        metadata = self.object["metadata"]
        return {
            "object": self.object,
            "oldObject": self.old_object,
            "request": self.request,
            "namespaceObject": self.namespace_object,
            "namespace": "vision-prod",
            "name": "train",
            "kind": "Job",
            "labels": metadata.get("labels", {}),
            "annotations": metadata.get("annotations", {}),
            "user": "ana",
            "groups": ["ml", "staff"],
            "queue": "vision",
            "priority": "urgent",
            "pods": 4,
        }


def asked(random: Random) -> Asked:
    """A Job with some of its fields."""
    made = deepcopy(JOB)
    metadata = made["metadata"]
    _thin(metadata, random, keep={"name", "namespace"})
    _thin(made["spec"], random, keep={"template"})
    pod = made["spec"]["template"]["spec"]
    _thin(pod, random, keep={"containers"})
    random.shuffle(pod["containers"])
    del pod["containers"][random.randrange(1, 4) :]
    old = deepcopy(JOB) if random.random() < 0.4 else None
    return Asked(made, old, REQUEST, NAMESPACE)


def _thin(fields: dict[str, Any], random: Random, keep: set[str]) -> None:
    for name in list(fields):
        if name not in keep and random.random() < 0.3:
            del fields[name]


class Writer:
    """Writes one condition; ``inside`` are the names that macros around here give, by type."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.inside: list[tuple[str, str]] = []

    def condition(self) -> str:
        return self.truth(self.random.randrange(1, 5))

    def one(self, *ways: Callable[[int], str], depth: int) -> str:
        return self.random.choice(ways)(depth - 1)

    def pick(self, *texts: str) -> str:
        return self.random.choice(texts)

    def named(self, kind: str) -> list[str]:
        return [name for name, its in self.inside if its == kind]

    def truth(self, depth: int) -> str:
        if depth <= 1 and self.inside and self.random.random() < 0.7:
            return self._of_an_item()
        if depth <= 0:
            return self.pick(
                "true", "false", "object.spec.suspend", "oldObject == null", 'has(labels.team)',
                f"has(object.spec.{self.pick('completions', 'parallelism', 'selector', 'backoffLimit')})",
                f'"{self.pick(*KEYS)}" in labels', "request.dryRun", "object.spec.template.spec.hostNetwork",
                "has(object.spec.template.spec.nodeSelector.zone)", "has(oldObject.spec.suspend)",
                *[f"has({name}.{field})" for name in self.named("container") for field in ("image", "args", "env")],
                *[f"has({name}.resources.requests)" for name in self.named("container")],
            )  # fmt: skip
        return self.one(
            self._logical, self._logical, self._not, self._compared, self._compared, self._method,
            self._method, self._in, self._quantified, self._quantified, self._choice_of_bools, self._equal_lists,
            depth=depth,
        )  # fmt: skip

    def _of_an_item(self) -> str:
        """Something that differs from item to item, and fails for some."""
        name, kind = self.random.choice(self.inside)
        number, text = (
            self.pick("-3", "0", "1", "4"),
            self.pick('"ml"', '"main"', '"vision"', '"team"'),
        )
        sign = self.pick("==", "!=", "<", ">=")
        match kind:
            case "int":
                return self.pick(f"{name} {sign} {number}", f"12 / {name} {sign} {number}")
            case "text":
                return self.pick(f"{name} {sign} {text}", f"labels[{name}] {sign} {text}")
            case _:
                field = self.pick(
                    "name", "image", "args[1]", "env[1].value", "env[0].name", "workingDir"
                )
                return f"{name}.{field} {sign} {text}"

    def _logical(self, depth: int) -> str:
        sign = self.pick(" && ", " || ")
        return "(" + sign.join(self.truth(depth) for _ in range(self.random.randrange(2, 4))) + ")"

    def _not(self, depth: int) -> str:
        return f"!({self.truth(depth)})"

    def _compared(self, depth: int) -> str:
        sign = self.pick("==", "!=", "<", "<=", ">", ">=")
        kind = self.random.choice([self.whole, self.whole, self.text, self.double, self._mixed])
        return f"{kind(depth)} {sign} {kind(depth)}"

    def _mixed(self, depth: int) -> str:
        return self.random.choice([self.whole, self.double])(depth)

    def _method(self, depth: int) -> str:
        name = self.pick("startsWith", "endsWith", "contains", "matches")
        if name == "matches":
            argument = f'"{self.pick(*PATTERNS)}"' if depth % 2 else self.text(0)
            return f"{self.text(depth)}.matches({argument})"
        return f"{self.text(depth)}.{name}({self.text(depth - 1)})"

    def _in(self, depth: int) -> str:
        if self.random.random() < 0.3:
            return f"{self.text(depth)} in {self.mapping(depth)}"
        return f"{self.text(depth)} in {self.texts(depth)}"

    def _choice_of_bools(self, depth: int) -> str:
        return f"({self.truth(depth)} ? {self.truth(depth)} : {self.truth(depth)})"

    def _equal_lists(self, depth: int) -> str:
        lists = self.random.choice([self.ints, self.texts])
        return f"{lists(depth)} {self.pick('==', '!=')} {lists(depth)}"

    def _quantified(self, depth: int) -> str:
        macro = self.pick("all", "exists", "exists_one")
        kind = self.pick("text", "int", "container", "key")
        return self._with(
            kind, lambda source, name: f"{source}.{macro}({name}, {self.truth(depth)})", depth
        )

    def _with(self, kind: str, write: Callable[[str, str], str], depth: int) -> str:
        """A list or map of that kind, and a macro over it."""
        source = {
            "text": self.texts, "int": self.ints, "key": self.mapping,
            "container": lambda _: "object.spec.template.spec.containers",
        }[kind](depth)  # fmt: skip
        around = [name for name, _ in self.inside]
        name = self.pick("x", "c", "user", f"n{len(around)}", *around, *around)
        hidden = self.inside
        own = (name, "text" if kind == "key" else kind)
        self.inside = [pair for pair in self.inside if pair[0] != name] + [own]
        text = write(source, name)
        self.inside = hidden
        return text

    def whole(self, depth: int) -> str:
        own = [*self.named("int"), *[f"(4 / {name})" for name in self.named("int")]]
        if depth <= 1 and own and self.random.random() < 0.6:
            return self.pick(*own)
        if depth <= 0:
            return self.pick(
                "0", "1", "4", "-3", "9223372036854775807", "-9223372036854775808", "pods", "object.spec.parallelism",
                "object.spec.completions", "object.spec.backoffLimit", "size(groups)", "size(labels)", "0x10",
                "object.spec.template.spec.terminationGracePeriodSeconds",
            )  # fmt: skip
        return self.one(
            self._sum,
            self._sum,
            self._size,
            self._choice_of_ints,
            self._item,
            self.whole,
            depth=depth,
        )

    def _sum(self, depth: int) -> str:
        return f"({self.whole(depth)} {self.pick('+', '-', '*', '/', '%')} {self.whole(depth)})"

    def _size(self, depth: int) -> str:
        inner = self.random.choice([self.text, self.texts, self.ints, self.mapping])(depth)
        return f"size({inner})" if self.random.random() < 0.5 else f"{inner}.size()"

    def _choice_of_ints(self, depth: int) -> str:
        return f"({self.truth(depth)} ? {self.whole(depth)} : {self.whole(depth)})"

    def _item(self, depth: int) -> str:
        return f"{self.ints(depth)}[{self.pick('0', '1', '-1', 'pods')}]"

    def double(self, depth: int) -> str:
        if depth <= 0:
            return self.pick("0.0", "1.5", "-2.0", "1e3", "0.1")
        return (
            f"({self.double(depth - 1)} {self.pick('+', '-', '*', '/')} {self.double(depth - 1)})"
        )

    def text(self, depth: int) -> str:
        own = [
            way.format(name) for name in self.named("text") for way in ("{}", "{}", "labels[{}]")
        ]
        fields = ("name", "image", "args[0]", "env[0].name", "workingDir")
        own += [f"{name}.{field}" for name in self.named("container") for field in fields]
        if depth <= 1 and own and self.random.random() < 0.6:
            return self.pick(*own)
        if depth <= 0:
            return self.pick(
                *[json.dumps(text, ensure_ascii=False) for text in self.random.sample(TEXTS, 4)],
                "namespace", "name", "kind", "user", "queue", "priority", "request.operation",
                "request.userInfo.username", "object.spec.completionMode", "object.metadata.name",
                f'labels["{self.pick(*KEYS)}"]', f"labels.{self.pick(*KEYS)}", "annotations.note",
                f'namespaceObject.metadata.labels["{self.pick(*KEYS)}"]', "oldObject.metadata.name",
                f'object.spec.template.spec.nodeSelector["{self.pick(*KEYS)}"]',
                "object.spec.template.spec.containers[0].image", "object.spec.template.spec.containers[1].name",
            )  # fmt: skip
        return self.one(self._joined, self._choice_of_texts, self.text, self.text, depth=depth)

    def _joined(self, depth: int) -> str:
        return f"({self.text(depth)} + {self.text(depth)})"

    def _choice_of_texts(self, depth: int) -> str:
        return f"({self.truth(depth)} ? {self.text(depth)} : {self.text(depth)})"

    def texts(self, depth: int) -> str:
        if depth <= 0:
            return self.pick(
                "groups", "request.userInfo.groups", '["ml", "a"]', "[]", '["vision"]',
                *[f"{name}.args" for name in self.named("container")],
            )  # fmt: skip
        return self.one(
            self._texts_made, self._texts_listed, self.texts, self._texts_added, depth=depth
        )

    def _texts_listed(self, depth: int) -> str:
        return f"[{', '.join(self.text(depth) for _ in range(self.random.randrange(1, 4)))}]"

    def _texts_added(self, depth: int) -> str:
        return f"({self.texts(depth)} + {self.texts(depth)})"

    def _texts_made(self, depth: int) -> str:
        if self.random.random() < 0.5:
            return self._with("text", lambda s, n: f"{s}.filter({n}, {self.truth(depth)})", depth)
        kind = self.pick("text", "container")
        if self.random.random() < 0.3:
            return self._with(
                kind, lambda s, n: f"{s}.map({n}, {self.truth(depth)}, {self.text(depth)})", depth
            )
        return self._with(kind, lambda s, n: f"{s}.map({n}, {self.text(depth)})", depth)

    def ints(self, depth: int) -> str:
        if depth <= 0:
            return self.pick(
                "[1, 2, 3]", "[0]", "[pods, 4]", "[4, 0, -1]", "[object.spec.parallelism]"
            )
        if self.random.random() < 0.5:
            return self._with(
                "int", lambda s, n: f"{s}.filter({n}, {self.truth(depth - 1)})", depth - 1
            )
        kind = self.pick("int", "text", "container")
        return self._with(kind, lambda s, n: f"{s}.map({n}, {self.whole(depth - 1)})", depth - 1)

    def mapping(self, depth: int) -> str:
        return self.pick(
            "labels", "annotations", "object.metadata.labels", "namespaceObject.metadata.labels",
            "object.spec.template.spec.nodeSelector", '{"team": "a", "b": "c"}', "{}",
            f'{{"k": {self.text(0)}}}',
        )  # fmt: skip
