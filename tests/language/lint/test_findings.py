"""What is proven about rules, and that the object shown for it is one that does what it is said to do."""
# ruff: noqa: E501 - findings stand beside the lines they are about

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.admission.building import Cluster, judge, submit
from tests.language.chunks import expected, plain, problems, reported, split
from webhook.language.check import lint
from webhook.language.problems import Problem

QUEUES = """resource gpu = nvidia.com/gpu
queue q { quota { cpu 100, gpu 4 } }
queue p { quota { cpu 100, gpu 64 } }
"""
CHUNKS = """
route when namespace == "a" || namespace.startsWith("b-") to q
route when namespace in ["a", "b-c"] to p        ### TG203 "this route is hidden: what it matches, an earlier one takes first"
---
route for Job when pods > 4 to q
route when pods > 4 to p
route for JobSet when pods > 5 && user == "x" to q   ### TG203 "this route is hidden: what it matches, an earlier one takes first"
---
route a when pods > 4 to q audit
route b when pods > 5 to p
---
route when pods > 4 to q
route when pods <= 4 to p
route for Job to p
---
route for Job to q
route for JobSet to q
route when kind == "Job" && name == "x" to p     ### TG203 "this route is hidden: what it matches, an earlier one takes first"
---
route when labels["a"] == "x" to q
route when "a" in labels && labels.a == "x" to p   ### TG203 "this route is hidden: what it matches, an earlier one takes first"
---
route for Job when kind == "JobSet" to q         ### TG202 "this route can never match"
---
deny d when requests.gpu > 8 && requests.gpu <= 8 {  ### TG206 "this deny can never fire"
  message "no, {pods}"
}
---
deny d when labels["a"] == "x" && labels["a"] == "y" {   ### TG505 "where `labels["a"]` is absent this condition fails, and the rule denies"
  message "no, {pods}"
}
---
set s when !("a" in labels) { metadata.labels["a"] = "x" }
deny d when labels["a"] == "x" {
  message "no, {pods}"
}
---
deny d for Job when !has(object.spec.completions) || object.spec.completions > 3 {
  message "no, {pods}"
}
---
deny d for Job when has(object.spec.template.spec) && object.spec.completions > 3 {  ### TG505 "where `object.spec.completions` is absent this condition fails, and the rule denies"
  message "no, {pods}"
}
---
deny d for Job when kind == "Job" || pods > 5 {     ### TG207 "this deny refuses every Job"
  message "no, {pods}"
}
---
deny d for Job when kind == "Job" && object.spec.completions > 5 {  ### TG505 "where `object.spec.completions` is absent this condition fails, and the rule denies"
  message "no, {pods}"
}
---
warn w when pods < 0 {                             ### TG506 "this condition never holds, so nobody is warned"
  message "no, {pods}"
}
---
deny d when queue == "p" && requests.gpu < 100 {   ### TG412 "what this deny lets through never fits into queue `p`"
  message "no, {pods}"
}
---
deny d for Job when requests.gpu < 100 {
  message "no, {pods}"
}
---
deny d when queue == "p" && requests.gpu < 100 audit {
  message "no, {pods}"
}
"""


@pytest.mark.parametrize("chunk", split(CHUNKS))
def test_findings_stand_where_they_are_about(chunk: str) -> None:
    text = QUEUES + plain(chunk)
    found = [(line - QUEUES.count("\n"), code, message) for line, code, message in reported(text)]
    assert found == [(line, code, text.replace("\\", "")) for line, code, text in expected(chunk)]


ACCEPTING = """queue q {
  quota { cpu 9 }
  accept when queue == "q" && namespace.startsWith("a-")
  accept when labels["team"] == "x"
}
"""


SETS = 'set s when pods > 1 { metadata.labels["team"] = "x" }\n'


@pytest.mark.parametrize(
    ("rules", "codes"),
    [
        ('route when namespace == "b" && labels.team == "y" to q\n', ["TG205"]),
        ('route when namespace == "a-b" && labels.team == "y" to q\n', []),
        ('route when namespace == "b" to q\n', []),
        ('route when namespace == "b" && labels.team == "y" to q audit\n', []),
        (
            SETS + 'route when namespace == "b" && labels.team == "y" to q\n',
            [],
        ),
    ],
)  # fmt: skip
def test_what_a_queue_does_not_accept(rules: str, codes: list[str]) -> None:
    assert [found.code for found in problems(ACCEPTING + rules)] == codes


def witness(found: Problem) -> dict[str, Any]:
    """The object that the finding shows."""
    (note,) = [note for note in found.notes if note.startswith("witness: ")]
    parsed: dict[str, Any] = json.JSONDecoder().raw_decode(note.removeprefix("witness: "))[0]
    return parsed


@pytest.mark.parametrize(
    ("condition", "by"),
    [
        (
            'namespace.startsWith("vision-") && requests.gpu > 3 && requests.cpu <= quantity("500m")',
            "anyone",
        ),
        ('pods == 7 && labels["team"].startsWith("ab") && user == "ana"', "ana"),
        (
            'name.endsWith("-x") && namespace.contains("y") && requests.memory >= quantity("2Gi")',
            "anyone",
        ),
        ("kind == 'JobSet' && pods > 2 && requests.gpu == 6", "anyone"),
        ('annotations["a/b"] != "x" && has(object.metadata.labels)', "anyone"),
    ],
)
def test_the_object_is_taken_by_the_route_it_is_shown_for(condition: str, by: str) -> None:
    text = (
        QUEUES
        + f"route wide when {condition} to p\nroute narrow when {condition} && pods > 0 to q\n"
    )
    (found,) = problems(text)
    assert found.code == "TG203"
    stored, first, _ = submit(witness(found), judge(text), user=by)
    assert stored["metadata"]["labels"]["tidegate.dev/queue"] == "p", first


def test_the_object_of_a_deny_is_denied() -> None:
    text = QUEUES + 'deny d when labels["team"] == "x" {\n  message "no, {pods}"\n}\nroute to p\n'
    (found,) = problems(text)
    refused = submit(witness(found), judge(text, Cluster()))[2].refusals
    assert any("could not be evaluated" in refusal.line for refusal in refused)
    text = QUEUES + 'deny d when requests.gpu < 100 {\n  message "whole racks of 100 only"\n}\n'
    (found,) = problems(text)
    refused = submit(witness(found), judge(text))[2].refusals
    assert [refusal.line.startswith("whole racks of 100 only") for refusal in refused] == [True]


def test_the_object_of_a_limit_is_denied_although_it_stays_within() -> None:
    deny = 'deny small when requests.gpu < 8 {\n  message "at least 8 GPUs"\n}\n'
    large = QUEUES.replace("gpu 4", "gpu 8")
    text = large + "queue r {\n  quota { gpu 64 }\n  limit gpu 4 per user\n}\n" + deny
    (found,) = problems(text)
    assert (found.code, found.span.line) == ("TG402", 6)
    stored, refused = submit(witness(found), judge(text))[0], submit(witness(found), judge(text))[2]
    assert stored["metadata"]["labels"]["tidegate.dev/queue"] == "r"
    assert [refusal.line.startswith("at least 8 GPUs") for refusal in refused.refusals] == [True]


@pytest.mark.parametrize(
    "silent",
    [
        "limit gpu 8 per user",  # one that is let through fits
        "limit cpu 4 per user",  # the deny is about something else
        "limit gpu 0 per user",  # nobody may have any, and that is what it says
        "limit jobs 4 per user",
        "limit gpu 4 per user",  # beside a deny that is not for all
    ],
)
def test_a_limit_that_lets_somebody_through_is_not_reported(silent: str) -> None:
    kinds = " for Job" if silent == "limit gpu 4 per user" else ""
    deny = f'deny small{kinds} when requests.gpu < 8 {{\n  message "at least 8 GPUs"\n}}\n'
    body = f"  quota {{ gpu 64, cpu 9 }}\n  {silent}\n"
    assert problems(QUEUES.replace("gpu 4", "gpu 8") + f"queue r {{\n{body}}}\n{deny}") == ()


def test_where_the_whole_quota_is_too_small_the_limit_is_not_reported_as_well() -> None:
    deny = 'deny small when requests.gpu < 100 {\n  message "at least 100 GPUs"\n}\n'
    text = QUEUES.replace("quota { cpu 100, gpu 4 }", "quota { cpu 1 }")
    body = "queue r {\n  quota { gpu 64 }\n  limit gpu 4 per user\n}\n"
    assert {p.code for p in problems(text + body + deny)} == {"TG412"}


def test_files_that_overlap_are_told_with_a_workload_of_both() -> None:
    files = [
        ("a.tide", QUEUES + "route when pods > 8 to q\n"),
        ("b.tide", 'route when namespace == "x" to p\nroute when pods > 100 to q\n'),
    ]
    _, found = lint(files)
    assert [(p.code, p.span.path, p.span.line) for p in found] == [
        ("TG204", "b.tide", 1),
        ("TG203", "b.tide", 2),
    ]
    shown = witness(found[0])
    assert (shown["metadata"]["namespace"], shown["spec"]["parallelism"]) == ("x", 9)


def test_thousands_of_routes_take_no_time_worth_naming() -> None:
    routes = "".join(f'route when namespace == "n{n}" && pods > {n} to q\n' for n in range(2_000))
    assert problems(QUEUES + routes) == ()


LENT = """
cohort top {
  cohort left {
    pool { cpu 1 borrow none lend 1 }   ### LEFT
    queue a { quota { cpu 1 lend 1 } }  ### A
    queue b { quota { cpu 1 } }
  }
  queue c { quota { cpu 1 RIGHT } }
}
"""


@pytest.mark.parametrize(
    ("right", "found"),
    [("", set()), ("borrow none", {4})],
)
def test_what_is_lent_is_used_by_the_other_side_alone(right: str, found: set[int]) -> None:
    """`a` lends to `b` although their cohort borrows nothing; the cohort's pool has `c` alone to lend to."""
    text = LENT.replace("RIGHT", right)
    assert {
        text[: p.span.start].count("\n") + 1 for p in problems(text) if p.code == "TG315"
    } == found


def test_lending_of_many_is_looked_at_once_each() -> None:
    queues = "".join(
        f"  queue q{n} {{ quota {{ cpu 1 borrow none lend 1 }} }}\n" for n in range(3_000)
    )
    found = [p for p in problems(f"cohort c {{\n{queues}}}\n") if p.code == "TG315"]
    assert len(found) > 1
