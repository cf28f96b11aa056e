"""Random conditions of the fragment and beyond, and objects to ask them about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.language.building import expression
from webhook.language.conditions import ConditionFailed, Names, Scope, compile_condition
from webhook.language.expression import Expression
from webhook.model.kinds import Kind
from webhook.model.quantity import NANO

ALIASES = {"gpu": "nvidia.com/gpu"}
NAMES = Names((Kind("Any", "example.com", "v1", "anys"),), aliases=ALIASES)
"""A kind without a schema: its fields may hold anything, so that types are mixed."""

TEXTS = ("a", "ab", "abc", "b", "ba", "", "abab")
NUMBERS = ("0", "1", "2", "1.0", "1.5", "-1")
TEXT_TERMS = ("namespace", "kind", "user", 'labels["a"]', "labels.b", "object.metadata.labels.a")
ANY_TERMS = ("object.m.x", 'object.m["x"]', "object.m.y.z", "object.n")
MAPS = ("labels", "object.metadata.labels")


@dataclass(frozen=True)
class Asked:
    """A condition, and what it says of each scope: true, false, None where it fails."""

    text: str
    node: Expression
    answers: tuple[bool | None, ...]


def atom(random: Random) -> str:
    """A condition without `&&`, `||` and `!`."""
    text, number = f'"{random.choice(TEXTS)}"', random.choice(NUMBERS)
    sign = random.choice(("==", "!=", "<", "<=", ">", ">="))
    same = random.choice(("==", "!="))
    whole = random.choice(("0", "1", "2", "8"))
    choices = (
        f"{random.choice(TEXT_TERMS)} {same} {text}",
        f"{text} {same} {random.choice(TEXT_TERMS)}",
        f'{random.choice(TEXT_TERMS)} in [{text}, "{random.choice(TEXTS)}"]',
        f"{random.choice(TEXT_TERMS)}.{random.choice(('startsWith', 'endsWith', 'contains'))}({text})",
        f"requests.{random.choice(('gpu', 'cpu'))} {sign} {whole}",
        f'requests["nvidia.com/gpu"] {sign} quantity("{random.choice(("500m", "1", "2k"))}")',
        f"has(requests.{random.choice(('gpu', 'cpu'))})",
        f"pods {sign} {random.choice(NUMBERS)}",
        f"{random.choice(ANY_TERMS)} {sign} {number}",
        f"{random.choice(ANY_TERMS)} {same} {random.choice((text, number, 'true', 'false', 'null'))}",
        f"{random.choice(ANY_TERMS)} in [{text}, {number}, true]",
        f"{random.choice(ANY_TERMS)}.startsWith({text})",
        random.choice(ANY_TERMS),
        f"has({random.choice(('object.m', 'object.m.x', 'object.m.y', 'object.m.y.z', 'labels.a'))})",
        f'"{random.choice(("a", "b"))}" in {random.choice(MAPS)}',
        f'"{random.choice(("a", "b"))}" in groups',
        f"user.matches({text})",
        random.choice(("true", "false")),
    )
    return random.choice(choices)


def condition(random: Random, depth: int = 3) -> str:
    """Any condition."""
    if depth == 0 or random.random() < 0.3:
        return atom(random)
    if random.random() < 0.2:
        return f"!({condition(random, depth - 1)})"
    operator = random.choice((" && ", " || ", " && "))
    parts = [condition(random, depth - 1) for _ in range(random.randint(2, 3))]
    return "(" + operator.join(parts) + ")"


def near(random: Random, text: str) -> str:
    """A condition that has to do with another one."""
    other = condition(random, 1)
    return random.choice(
        (f"({text}) || ({other})", f"({text}) && ({other})", f"!({text})", f"({other}) && ({text})")
    )


def scope(random: Random) -> Scope:
    """An object, with fields that are there or not and hold this or that."""
    values: Sequence[Any] = (*TEXTS, 0, 1, 2, 1.0, 1.5, -1, True, False, None, {}, [])
    labels = {key: random.choice(TEXTS) for key in ("a", "b") if random.random() < 0.6}
    obj: dict[str, Any] = {"kind": "Any", "metadata": {"name": "x"}}
    if random.random() < 0.8:
        obj["metadata"]["labels"] = labels
    else:
        labels = {}
    if random.random() < 0.8:
        obj["m"] = {"x": random.choice(values)} if random.random() < 0.7 else {}
        if random.random() < 0.6:
            obj["m"]["y"] = {"z": random.choice(values)} if random.random() < 0.6 else {}
    if random.random() < 0.5:
        obj["n"] = random.choice(values)
    amounts = [("nvidia.com/gpu", 0.5), ("nvidia.com/gpu", 1), ("nvidia.com/gpu", 8), ("cpu", 2)]
    requests = {r: int(a * NANO) for r, a in random.sample(amounts, random.randint(0, 3))}
    return Scope(
        object=obj, old_object=None, request={}, namespace_object=None,
        namespace=random.choice(TEXTS), name="x", kind=random.choice(("a", "Any", "b")),
        labels=labels, annotations={}, user=random.choice(TEXTS),
        groups=random.sample(("a", "b"), random.randint(0, 2)), queue=None, priority=None,
        pods=random.choice((0, 1, 2, 8)), requests=requests,
    )  # fmt: skip


def ask(text: str, scopes: Sequence[Scope]) -> Asked | None:
    """The condition with its answers; None for one that is refused."""
    node = expression(text)
    compiled, _ = compile_condition(node, names=NAMES, want="bool")
    if compiled is None:
        return None
    answers: list[bool | None] = []
    for each in scopes:
        try:
            answers.append(bool(compiled.evaluate(each)))
        except ConditionFailed:
            answers.append(None)
    return Asked(text, node, tuple(answers))
