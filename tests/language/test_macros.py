"""Macros: what they compute, what their names mean, what is refused, and that no object makes them run for ever."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from tests.language.building import NAMES, OBJECT, SCOPE, compiled, problems, spot, value
from webhook.language.conditions import IN_KINDS, ConditionFailed, Names
from webhook.language.failures import TooCostly
from webhook.language.macros import length
from webhook.model.kinds import Kind

OPEN = Names((Kind("X", "x.dev", "v1", "xs"),))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('groups.exists(g, g == "ml")', True),
        ('groups.exists(g, g == "no")', False),
        ("groups.all(g, size(g) >= 2)", True),
        ("[].all(x, x > 0)", True),
        ("[].exists(x, x > 0)", False),
        ("[1, 2, 2].exists_one(x, x == 2)", False),
        ("[1, 2, 3].exists_one(x, x == 2)", True),
        ("[1, 2, 3].filter(x, x % 2 == 1)", [1, 3]),
        ("[1, 2, 3].map(x, x * x)", [1, 4, 9]),
        ("[1, 2, 3].map(x, x > 1, x * x)", [4, 9]),
        ('{"a": 1, "b": 2}.map(k, k)', ["a", "b"]),
        ('{"a": 1, "b": 2}.filter(k, k != "a")', ["b"]),
        ('labels.all(k, labels[k] == "vision")', True),
        ("[[1, 2], [3]].map(x, x.map(y, y + size(x)))", [[3, 4], [4]]),
        ("[1, 2].map(x, [10, 20].map(y, x + y))", [[11, 21], [12, 22]]),
        ("object.spec.template.spec.containers.map(c, c.name)", ["main"]),
        ('object.spec.template.spec.containers.all(c, "cpu" in c.resources.requests)', True),
        ("groups.map(g, quantity(string_of(g)))".replace("string_of(g)", '"1Gi"'), ["1Gi", "1Gi"]),
        ("groups.all(g, requests.gpu > 7)", True),
        ("groups.exists(g, pods > 3) && pods == 4", True),
    ],
)
def test_a_macro_computes_what_cel_does(text: str, wanted: object) -> None:
    assert value(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[0, 1].exists(x, 1 / x == 1)", True),
        ("[1, 0].exists(x, 1 / x == 1)", True),
        ("[0, 1].all(x, 1 / x == 2)", False),
        ('[1, true].exists(x, x == "no" ? x : true)', True),
        ("[0, true].all(x, x)", None),
        ("[0, false].all(x, x)", False),
        ("[0, 1].exists(x, 1 / x == 2)", None),
        ("[0, 1].all(x, 1 / x == 1)", None),
        ("[1, 0].exists_one(x, 1 / x == 1)", None),
        ("[1, 0].filter(x, 1 / x == 1)", None),
        ("[1, 0].map(x, 1 / x)", None),
        ("[0, 1].exists(x, 1 / x == 2) || true", True),
        ("[1, true][0].all(x, true)", None),
    ],
)
def test_exists_and_all_absorb_errors_the_others_do_not(text: str, wanted: bool | None) -> None:
    if wanted is not None:
        assert value(text) is wanted
        return
    with pytest.raises(ConditionFailed) as failed:
        value(text)
    assert 0 <= failed.value.span.start < failed.value.span.end <= len(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('groups.exists(user, user == "ml") && user == "ana"', True),
        ('groups.map(pods, pods) == ["ml", "staff"] && pods == 4', True),
        ("[1].all(x, [2].all(x, x == 2) && x == 1)", True),
        ("[[1, 2]].all(x, x.all(x, x < 3))", True),
        ('[{"cpu": 1}].all(requests, requests.cpu == 1 && has(requests.cpu))', True),
        ('[{"cpu": 1}].all(requests, requests["cpu"] == 1) && requests.cpu == 2', True),
        ('[{"a": 6}].all(requests, requests.a / pods == 1)', True),
    ],
)
def test_a_name_hides_another_inside_and_not_outside(text: str, wanted: bool) -> None:
    assert value(text) is wanted


WRONG = [
    ('groups.exists(gr, g == "a")', "TG504", "g", "in quotes"),
    ('groups.exists(g, true) && g == "a"', "TG504", "g", ""),
    ('groups.exists(group, grup == "a")', "TG504", "grup", "did you mean `group`?"),
    ("groups.all(g, size(g))", "TG503", "size(g)", ""),
    ("groups.map(g, 1, 2)", "TG503", "1", ""),
    ("groups.all(g, g > 1)", "TG503", "g > 1", ""),
    ("groups.all(g)", "TG503", "all", "groups.all(g"),
    ("groups.all(i, g, true)", "TG503", "all", "groups.all(g"),
    ("groups.all(user.x, true)", "TG501", "user.x", "bare word"),
    ('groups.all("g", true)', "TG501", '"g"', "bare word"),
    ("groups.all(namespace, true)", "TG501", "namespace", "another name"),
    ("user.all(c, true)", "TG503", "user", ""),
    ("object.spec.all(c, true)", "TG503", "object.spec", "lists and maps"),
    ("requests.all(r, true)", "TG503", "requests", "requests.cpu"),
    ("exists(groups, g, true)", "TG501", "exists", "….exists(…)"),
    ("groups.exits(g, true)", "TG501", "exits", "did you mean `exists`?"),
    ("object.spec.template.spec.containers.all(c, c.nam == 'a')", "TG502", "nam", "`name`"),
    ("groups.all(a, groups.all(b, groups.all(c, groups.all(d, a == d))))", "TG508", "all", "100"),
]


@pytest.mark.parametrize(("text", "code", "where", "help_"), WRONG, ids=[row[0] for row in WRONG])
def test_a_mistake_is_one_report_at_its_place(text: str, code: str, where: str, help_: str) -> None:
    (found,) = problems(text)
    assert (found.code, spot(found, text)) == (code, where)
    assert help_ in found.help


def test_mistakes_beside_and_inside_are_all_found() -> None:
    text = "user.all(c, nope == 1 && c.x.startsWith(1))"
    assert [found.code for found in problems(text)] == ["TG503", "TG504", "TG503"]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("[1, 2, 3]", 3),
        ("[1, 2, 3].filter(x, x > 1) + [4]", 4),
        ('true ? {"a": 1} : {}', 1),
        ("groups", 100),
        ("groups.map(g, [g, g])", 100),
    ],
)
def test_how_long_a_list_may_be_is_read_from_the_text(text: str, items: int) -> None:
    assert length(compiled(text, NAMES).node) == items


def test_macros_one_after_the_other_are_not_in_each_other() -> None:
    text = "groups.filter(a, a != 'x').map(b, b + 'y').filter(c, c != 'z').exists(d, d == 'mly')"
    assert value(text) is True
    many = " && ".join("groups.all(g, groups.all(h, groups.all(i, g != 'x')))" for _ in range(20))
    assert problems(many) == ()


def test_only_the_object_is_known_where_a_kind_is_declared() -> None:
    names = Names(OPEN.kinds, IN_KINDS)
    assert value("object.a.exists(x, x.y == 1)", names, object={"a": [{}, {"y": 1}]}) is True


def _doubling(levels: int) -> str:
    """Lists in lists that share their parts: written out they would have two to the power of levels items."""
    text = f"v{levels} == v{levels}"
    for at in range(levels, 0, -1):
        text = f"[[v{at - 1}, v{at - 1}]].all(v{at}, {text})"
    return text.replace("v0,", "groups,").replace("v0]", "groups]")


@pytest.mark.parametrize(
    "text",
    [
        "object.a.all(x, object.a.all(y, x == y || x != y))",
        "object.a.all(x, object.a.exists(y, x == 'no') || true)",
        "object.a.all(x, object.a == object.a)",
        "object.a.all(x, 'no' in object.a || true)",
        "object.a.all(x, size(object.a + object.a) > 0)",
        "object.a.all(x, size(object.s + object.s) > 0)",
        "object.a.all(x, object.s.matches('(a+)+b') || true)",
        "object.a.all(x, object.s.contains('b') || true)",
        "object.a.all(x, object.s != object.t)",
        "object.a.all(x, object.s < object.t || true)",
        "object.a.all(x, object.s.matches(x + 'b') || true)",
        _doubling(26),
    ],
)
def test_no_object_makes_a_condition_run_for_ever(text: str) -> None:
    """Nothing absorbs it, and what comes after is not computed."""
    seen = {"a": [str(n) for n in range(50_000)], "s": "a" * 200_000, "t": "a" * 199_999 + "b"}
    before = time.process_time()
    with pytest.raises(TooCostly, match="steps"):
        compiled(text + " || true", OPEN).evaluate(replace(SCOPE, object=seen))
    assert time.process_time() - before < 30


def test_a_value_whose_parts_are_shared_is_not_written_out_for_ever() -> None:
    text = _doubling(26).replace("v26 == v26", "v26").replace(".all(", ".map(")
    with pytest.raises(ConditionFailed, match="steps"):
        value(text)


def test_a_large_object_is_walked_over() -> None:
    containers = [{"name": f"c{n}", "image": f"registry.example.com/x:{n}"} for n in range(2000)]
    spec = {"template": {"spec": {"containers": containers}}}
    text = (
        'object.spec.template.spec.containers.all(c, c.image.startsWith("registry.example.com/") '
        '&& c.name.matches("^c[0-9]+$"))'
    )
    assert value(text, object=OBJECT | {"spec": spec}) is True
