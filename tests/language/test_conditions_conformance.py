"""CEL's own conformance cases, as far as they lie inside the subset: not one may come out otherwise.

``conformance.json`` holds those by topic, after the cases of cel-spec (Apache-2.0): a text, and what it is or that it
fails. It is run everywhere; where the whole of the cases is at hand, so is that, and none inside may be missing here.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.language.building import SCOPE, expression
from tests.language.cel_cases import ABSENT, FOLDER, Beyond, Case, cases, value_of
from webhook.language.conditions import ConditionFailed, Names, compile_condition, compile_term
from webhook.language.expression import Expression
from webhook.language.parse import parse_expression
from webhook.language.problems import Problem
from webhook.language.syntax import Source

WRITTEN: dict[str, list[list[Any]]] = json.loads(
    (Path(__file__).parent / "conformance.json").read_text(encoding="utf-8")
)
NAMES = Names((), frozenset())
OUTSIDE = object()


def _outcome(case: Case) -> tuple[str, Any]:
    """Why a case is not ours, or ("", what it gives)."""
    if "type_env" in case.fields or "bindings" in case.fields or "container" in case.fields:
        return "variables of its own", OUTSIDE
    parsed = parse_expression(case.expression, source=Source("case", case.expression), offset=0)
    if isinstance(parsed, Problem):
        return "syntax beyond the subset", OUTSIDE
    return _run(parsed, unchecked="disable_check" in case.fields)


def _run(parsed: Expression, *, unchecked: bool) -> tuple[str, Any]:
    term, found = compile_term(parsed, NAMES)
    codes = {problem.code for problem in found}
    if codes - {"TG503"}:
        return f"refused, {min(codes - {'TG503'})}", OUTSIDE
    if codes and not unchecked:
        return "refused, types", OUTSIDE
    if not codes:
        condition, _ = compile_condition(parsed, names=NAMES, want="any")
        assert condition is not None
    elif unchecked:
        return "types, checked always", OUTSIDE
    try:
        return "", term.run(SCOPE)
    except ConditionFailed as failure:
        return "", failure


def same(left: Any, right: Any) -> bool:
    """Equal in type and value, parts included; NaN is NaN."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(v, right[k]) for k, v in left.items())
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return type(left) is type(right) and left == right


def _wrong(case: Case, given: Any) -> str:
    if "eval_error" in case.fields:
        return "" if isinstance(given, ConditionFailed) else f"{given!r} instead of an error"
    (wanted,) = case.fields.get("value", [{"bool_value": ["true"]}])
    try:
        value = value_of(wanted)
    except Beyond as beyond:
        return f"a value beyond the subset was computed: {beyond}"
    return "" if same(given, value) else f"{given!r} instead of {value!r}"


@pytest.mark.parametrize("topic", WRITTEN)
def test_a_case_of_ours_has_the_value_that_is_written(topic: str) -> None:
    for text, how, *wanted in WRITTEN[topic]:
        condition, found = compile_condition(expression(text), names=NAMES, want="any")
        given: Any = [problem.code for problem in found]
        if condition is not None:
            try:
                given = condition.evaluate(SCOPE)
            except ConditionFailed:
                given = ConditionFailed
        if how == "fails":
            assert given in (ConditionFailed, ["TG503"]), text
        else:
            assert same(given, wanted[0]), (text, given, wanted)


@pytest.mark.skipif(not FOLDER.is_dir(), reason=ABSENT)
def test_no_conformance_case_inside_the_subset_has_another_value(
    capsys: pytest.CaptureFixture[str],
) -> None:
    skipped: Counter[str] = Counter()
    wrong: list[str] = []
    ran = 0
    for case in cases():
        reason, given = _outcome(case)
        if reason:
            skipped[reason] += 1
            continue
        ran += 1
        if problem := _wrong(case, given):
            wrong.append(f"{case.id}: {case.expression!r}: {problem}")
    with capsys.disabled():
        print(f"\n{ran} cases of CEL ran, {len(wrong)} wrong; outside: {dict(skipped)}")
    assert wrong == []
    assert ran >= 450


@pytest.mark.skipif(not FOLDER.is_dir(), reason=ABSENT)
def test_every_conformance_case_inside_the_subset_is_written_down() -> None:
    ours = {text for topic in WRITTEN.values() for text, *_ in topic}
    assert [c.id for c in cases() if not _outcome(c)[0] and c.expression not in ours] == []
