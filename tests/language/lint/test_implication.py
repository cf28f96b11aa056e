"""No claim about a condition is ever wrong: random conditions, asked about random objects."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from tests.language.building import expression
from tests.language.lint.conditions import ALIASES, Asked, ask, condition, near, scope
from webhook.language.lint.clauses import ALWAYS, Clauses, Reader, TooMany
from webhook.language.lint.implication import (
    always_true,
    disjoint,
    implies,
    never_fails,
    never_true,
)

READER = Reader(ALIASES)


def true(text: str) -> Clauses:
    return READER.true(expression(text))


def implied(left: str, right: str) -> bool:
    return implies(true(left), true(right))


def claims(pairs: int, seed: int) -> Counter[str]:
    """How often each claim was made over so many pairs; fails on the first that is wrong."""
    random = Random(seed)
    scopes = [scope(random) for _ in range(150)]
    made: Counter[str] = Counter()
    for _ in range(pairs):
        text = condition(random)
        first = ask(text, scopes)
        second = ask(near(random, text) if random.random() < 0.5 else condition(random), scopes)
        if first is not None and second is not None:
            made.update(_claims(first, second))
    return made


def _claims(first: Asked, second: Asked) -> Counter[str]:
    made: Counter[str] = Counter(pairs=1)
    node, answers = first.node, list(zip(first.answers, second.answers, strict=True))
    if never_true(READER, node, ALWAYS):
        made["never true"] += 1
        assert True not in first.answers, first.text
    if always_true(READER, node, ALWAYS):
        made["always true"] += 1
        assert set(first.answers) == {True}, first.text
    if never_fails(READER, node, ALWAYS):
        made["never fails"] += 1
        assert None not in first.answers, first.text
    try:
        mine, theirs = READER.true(node), READER.true(second.node)
        apart = disjoint(mine, theirs)
    except TooMany:
        return made
    if implies(mine, theirs):
        made["implies"] += 1
        assert all(b is True for a, b in answers if a is True), (first.text, second.text)
    if apart:
        made["disjoint"] += 1
        assert (True, True) not in answers, (first.text, second.text)
    return made


def test_no_claim_is_wrong() -> None:
    made = claims(pairs=1_500, seed=20261201)
    for claim in ("implies", "never true", "always true", "never fails", "disjoint"):
        assert made[claim] >= 10, made


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_no_claim_is_wrong_for_long() -> None:
    total: Counter[str] = Counter()
    for seed in range(100):
        total += claims(pairs=5_000, seed=seed)
    print(dict(total))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ('namespace == "vision-a"', 'namespace.startsWith("vision-")'),
        ('namespace.startsWith("vision-")', 'namespace.startsWith("vis")'),
        ('namespace in ["a", "b"]', 'namespace in ["b", "c", "a"]'),
        ('namespace.startsWith("a")', 'namespace != "b"'),
        ('labels.team == "x"', '"team" in labels'),
        ('labels["team"].startsWith("x")', "has(labels.team)"),
        ("requests.gpu > 8", 'requests["nvidia.com/gpu"] >= quantity("500m")'),
        ("requests.gpu > 0", "has(requests.gpu)"),
        ("pods > 3 && pods < 5", "pods <= 5"),
        ('!(pods > 3 || namespace == "a")', "pods <= 3"),
        ("object.spec.a.b == 1", "has(object.spec.a)"),
        ("!has(object.spec.a)", "has(object.spec)"),
        ('user.matches("a.*") && pods > 1', 'user.matches("a.*")'),
        ('user == "a" || user == "b"', 'user in ["a", "b"]'),
    ],
)
def test_what_is_implied(left: str, right: str) -> None:
    assert implied(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("object.x > 1", "object.x >= 2"),  # 1.5
        ('labels.a != "x"', 'labels.a == "y"'),
        ('!("a" in object.metadata.labels)', '!("a" in labels) && has(labels.b)'),
        ('!(object.x == "a")', '!(object.x.startsWith("a"))'),  # it may be a number
        ("object.x != 1", 'object.x == "a"'),
        ('user.matches("a")', 'user.matches("ab")'),
    ],
)
def test_what_is_not(left: str, right: str) -> None:
    assert not implied(left, right)


def test_absence_is_known_where_the_condition_guards_it() -> None:
    guarded = expression('"a" in labels && labels.a == "x"')
    assert never_fails(READER, guarded, ALWAYS)
    assert never_fails(READER, expression('!("a" in labels) || labels.a == "x"'), ALWAYS)
    assert not never_fails(READER, expression('labels.a == "x"'), ALWAYS)
    assert not never_fails(READER, expression('"b" in labels && labels.a == "x"'), ALWAYS)


def test_too_many_alternatives_are_given_up() -> None:
    text = " && ".join(f'(labels.a == "{n}" || labels.b == "{n}")' for n in range(7))
    assert not never_true(
        READER, expression(text + ' && namespace == "a" && namespace == "b"'), ALWAYS
    )
    with pytest.raises(TooMany):
        true(text)
