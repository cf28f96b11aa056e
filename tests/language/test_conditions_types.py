"""What is refused before anything runs, and what it says to write instead."""

from __future__ import annotations

import pytest

from tests.language.building import (
    ALIASES,
    NAMES,
    SCOPE,
    compiled,
    expression,
    only_problem,
    problems,
    spot,
)
from webhook.language.conditions import IN_KINDS, IN_ROUTES, Names, compile_condition
from webhook.model.kinds import JOB, JOBSET, Kind

BOTH = Names((JOB, JOBSET), aliases=ALIASES)

WRONG = [
    # text, code, where, what the help says
    ("requests.memory > 64Gi", "TG501", "64Gi", 'quantity("64Gi")'),
    ("requests.memory > 64GB", "TG010", "64GB", 'quantity("64Gi")'),
    ('requests.memory > quantity("64GB")', "TG010", '"64GB"', 'quantity("64Gi")'),
    ("pods > 8u", "TG501", "8u", "write `8`"),
    ("b'x' == 'x'", "TG501", "b'x'", "leave out the `b`"),
    ("pods > 90s", "TG501", "90s", ""),
    ("pods > 9223372036854775808", "TG011", "9223372036854775808", ""),
    ("1e999 > 1.0", "TG011", "1e999", ""),
    (r'"\q" == user', "TG007", r'"\q"', "\\\\"),
    (r'"\ud800" == user', "TG007", r'"\ud800"', ""),
    ("requests.gpu > 1.5", "TG507", "1.5", 'write `quantity("1.5")`'),
    ("requests.gpu * 1.5 > 1", "TG507", "1.5", ""),
    ("requests.gpus > 1", "TG108", "gpus", "did you mean `gpu`?"),
    ("requests.big-gpu > 1", "TG108", "requests.big-gpu", 'requests["example.com/big-gpu"]'),
    ("requests.nvidia.com/gpu > 1", "TG108", "requests.nvidia.com/gpu", "requests[\"nvidia.com/gpu\"]"),
    ("requests.pods > 1", "TG108", "pods", "write `pods`"),
    ("requests > 1", "TG503", "requests", "requests.cpu"),
    ("requests[user] > 1", "TG503", "requests[user]", "literal text"),
    ('requests.memory > "64Gi"', "TG503", 'requests.memory > "64Gi"', 'quantity("64Gi")'),
    ("object.spec.paralelism > 1", "TG502", "paralelism", "did you mean `parallelism`?"),
    ("has(object.spec.suspended)", "TG502", "suspended", "did you mean `suspend`?"),
    ('object.spec["suspend"]', "TG503", 'object.spec["suspend"]', "object.spec.suspend"),
    ('"suspend" in object.spec', "TG503", '"suspend" in object.spec', "has(object.spec.suspend)"),
    ("object.spec.suspend == null", "TG503", "object.spec.suspend == null", "has(object.spec.suspend)"),
    ("object.metadata.creationTimestamp == user", "TG501", "object.metadata.creationTimestamp", ""),
    ("object.metadata.annotations.in == user", "TG501", "in", '["in"]'),
    ("has(labels['a'])", "TG501", "labels['a']", '"a" in labels'),
    ("has(labels)", "TG501", "labels", "has(object.spec.x)"),
    ("namespac == user", "TG504", "namespac", "did you mean `namespace`?"),
    ("gpu > 1", "TG504", "gpu", "requests.gpu"),
    ("user == ana", "TG504", "ana", '"ana"'),
    ('user == 1', "TG503", "user == 1", ""),
    ('user < 1', "TG503", "user < 1", ""),
    ("pods == true", "TG503", "pods == true", ""),
    ("1 + 1.0 == 2.0", "TG503", "1 + 1.0", "write `1.0`"),
    ('"a" - "b" == "a"', "TG503", '"a" - "b"', ""),
    ("[1] < [2]", "TG503", "[1] < [2]", ""),
    ("!pods", "TG503", "!pods", ""),
    ("-user == user", "TG503", "-user", ""),
    ("pods && true", "TG503", "pods", ""),
    ("pods ? true : false", "TG503", "pods", ""),
    ("true ? 1 == 1 : 2", "TG503", "true ? 1 == 1 : 2", ""),
    ("labels[1] == user", "TG503", "1", ""),
    ("groups['a'] == user", "TG503", "'a'", ""),
    ("user[0] == user", "TG503", "user[0]", ""),
    ("user.name == user", "TG503", "name", ""),
    ("1 in groups", "TG503", "1 in groups", ""),
    ("1 in labels", "TG503", "1 in labels", ""),
    ("user in user", "TG503", "user in user", ""),
    ("size(pods) > 1", "TG503", "pods", ""),
    ("user.startsWith(1)", "TG503", "1", ""),
    ("pods.startsWith('a')", "TG503", "pods", ""),
    ("user.startsWith('a', 'b')", "TG503", "startsWith", ""),
    ("has() || true", "TG503", "has", ""),
    ("requests.cpu.isLessThan(8)", "TG503", "8", 'quantity("8")'),
    ("quantity(8) > 1", "TG503", "8", 'quantity("8")'),
    ("groups.existsOne(g, g == 'a')", "TG501", "existsOne", "exists_one"),
    ("int(user) > 1", "TG501", "int", "nothing is converted"),
    ("dyn(1) == 1.0", "TG501", "dyn", ""),
    ("timestamp(user) == user", "TG501", "timestamp", ""),
    ("user.startswith('a')", "TG501", "startswith", "did you mean `startsWith`?"),
    ("startsWith(user, 'a')", "TG501", "startsWith", "….startsWith(…)"),
    ("user.has('a')", "TG501", "has", "has(…)"),
    ("size({1: 2}) == 1", "TG501", "1", 'write `"1"`'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "where", "help_"), WRONG, ids=[row[0] for row in WRONG])
def test_a_mistake_is_one_report_at_its_place(text: str, code: str, where: str, help_: str) -> None:
    found = only_problem(text)
    assert (found.code, spot(found, text)) == (code, where)
    assert help_ in found.help
    assert found.message[0].islower() or not found.message[0].isalpha()
    assert not found.message.endswith(".")


def test_a_quantity_without_quotes_is_cured_by_an_editor() -> None:
    fix = only_problem("requests.memory > 64Gi").fix
    assert fix is not None
    assert fix.text == 'quantity("64Gi")'


def test_all_mistakes_of_a_condition_are_found_at_once() -> None:
    text = 'namespac == "a" && object.spec.paralelism > 1 || requests.gpu > 0.5'
    assert [found.code for found in problems(text)] == ["TG504", "TG502", "TG507"]


def test_a_field_must_exist_in_every_kind_the_rule_is_for() -> None:
    found = only_problem("object.spec.parallelism > 1", BOTH)
    assert found.code == "TG502"
    assert found.message == "a JobSet has no field `object.spec.parallelism`"
    assert found.help == "restrict the rule: `for Job`"
    assert problems("object.spec.parallelism > 1", NAMES) == ()


def test_a_field_that_no_kind_has_is_suggested_from_all() -> None:
    found = only_problem("object.spec.replicatedJob == null", BOTH)
    assert "neither a Job nor a JobSet" in found.message
    assert found.help == "did you mean `replicatedJobs`?"


def test_a_field_that_all_kinds_have_is_checked_as_one() -> None:
    assert problems("object.spec.suspend && object.metadata.name == name", BOTH) == ()
    assert only_problem("object.spec.suspend == 1", BOTH).code == "TG503"


def test_a_kind_without_a_schema_is_not_checked() -> None:
    unknown = Names((Kind("RayJob", "ray.io", "v1", "rayjobs"),))
    assert problems("object.spec.whatever[0] > 1 || object.x.y == 'a'", unknown) == ()


def test_routes_know_no_queue_and_kinds_know_the_object_alone() -> None:
    found = only_problem('queue == "a"', Names(variables=IN_ROUTES))
    assert (found.code, "route" in found.help) == ("TG504", True)
    found = only_problem("requests.cpu > 1", Names(variables=IN_KINDS))
    assert (found.code, found.help) == ("TG504", "known here: `object`")


@pytest.mark.parametrize(
    ("want", "text", "code"),
    [("bool", "pods", "TG503"), ("text", "labels", "TG511"), ("text", "groups", "TG511")],
)
def test_what_is_wanted_is_checked(want: str, text: str, code: str) -> None:
    assert only_problem(text, want=want).code == code


@pytest.mark.parametrize(
    "text",
    [
        "(" * 3000 + "true" + ")" * 3000,
        "1" + " + 1" * 300 + " > 1",
        "!" * 500 + "true",
        "true || " * 1100 + "true",
        "object" + ".a" * 400,
        "[" * 200 + "]" * 200,
    ],
    ids=["parentheses", "sum", "not", "long", "fields", "lists"],
)
def test_too_deep_or_too_long_is_one_report(text: str) -> None:
    found = problems(text, want="bool")
    assert [problem.code for problem in found] == ["TG508"]


def test_as_deep_as_allowed_compiles_and_runs() -> None:
    assert compiled("(" * 98 + "pods > 1" + ")" * 98, want="bool").evaluate(SCOPE) is True
    assert compiled("pods" + " + 1" * 95 + " > 1", want="bool").evaluate(SCOPE) is True
    assert compiled("false || " * 800 + "true", want="bool").evaluate(SCOPE) is True


def test_a_condition_with_a_problem_is_none() -> None:
    condition, found = compile_condition(expression("nope"), names=NAMES)
    assert condition is None
    assert len(found) == 1
