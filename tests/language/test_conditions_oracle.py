"""Our conditions against another engine of CEL: for the same text and the same object the same value or an error.

A few hundred in CI, 20,000 with `-m soak`; TIDEGATE_CONDITIONS says how many instead.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.language.building import NAMES, SCOPE, expression
from tests.language.made_conditions import Asked, Writer, asked
from tests.language.test_conditions_conformance import same
from webhook.language.conditions import ConditionFailed, Scope, compile_condition
from webhook.language.scope import VARIABLES

cel = pytest.importorskip("cel_expr_python.cel", reason="cel-expr-python is not installed")

FAILED = "an error"
OURS = {"namespace": "tide_namespace"}
"""`namespace` is a reserved word of CEL: it gets another name there."""


class Oracle:
    """The other engine. It is asked without its checker, which refuses to compare ints with doubles."""

    def __init__(self) -> None:
        names = [OURS.get(name, name) for name in VARIABLES if name != "requests"]
        self._env = cel.NewEnv(variables=dict.fromkeys(names, cel.Type.DYN))

    def ask(self, text: str, of: Asked) -> Any:
        text = re.sub(r'(?<![\w."-])namespace(?![\w"-])', OURS["namespace"], text)
        data = {OURS.get(name, name): value for name, value in of.variables().items()}
        value = self._env.compile(text, disable_check=True).eval(data=data)
        return FAILED if value.type() == cel.Type.ERROR else value.plain_value()


def _scope(of: Asked) -> Scope:
    known = of.variables()
    return replace(
        SCOPE,
        object=of.object,
        old_object=of.old_object,
        request=of.request,
        namespace_object=of.namespace_object,
        labels=known["labels"],
        annotations=known["annotations"],
    )


def _compare(seed: int, count: int) -> tuple[Counter[str], list[str]]:
    random, oracle = Random(seed), Oracle()
    seen: Counter[str] = Counter()
    wrong: list[str] = []
    while seen["asked"] < count:
        text, of = Writer(random).condition(), asked(random)
        condition, _ = compile_condition(expression(text), names=NAMES)
        if condition is None:
            seen["refused"] += 1
            continue
        seen["asked"] += 1
        try:
            ours = condition.evaluate(_scope(of))
        except ConditionFailed:
            ours = FAILED
        theirs = oracle.ask(text, of)
        seen[str(ours)] += 1
        if not same(ours, theirs):
            wrong.append(f"{text}\n  ours {ours!r}, theirs {theirs!r}")
    return seen, wrong


def _report(seed: int, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    seen, wrong = _compare(seed, count)
    with capsys.disabled():
        print(f"\n{seen['asked']} conditions asked, {len(wrong)} differ; {dict(seen)}")
    assert wrong == []
    assert min(seen["True"], seen["False"], seen[FAILED]) > count / 50


def test_another_engine_gives_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    _report(1, int(os.environ.get("TIDEGATE_CONDITIONS", "400")), capsys)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_another_engine_gives_the_same_for_many(capsys: pytest.CaptureFixture[str]) -> None:
    _report(2, int(os.environ.get("TIDEGATE_CONDITIONS", "20000")), capsys)


def test_the_other_engine_is_asked_the_same_question() -> None:
    of = asked(Random(0))
    oracle = Oracle()
    assert oracle.ask('namespace == "vision-prod"', of) is True
    assert oracle.ask('object.metadata.namespace == "vision-prod"', of) is True
    assert oracle.ask("1 / 0 == 1", of) == FAILED
