"""All tests of a policy: which rules they exercise, which statements stand in their way, and where findings stand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.language.chunks import codes
from tests.rehearsal.scenes import POLICY, load, no_file, run, scene
from webhook.rehearsal.trials import span_at, try_all

IN = scene('submit Job in "team-vision" requests { gpu 1 }', "expect queue vision", name="in")
OUT = scene(
    'submit Job in "team-vision" requests { gpu 11 }', "expect denied by too-big", name="out"
)
WIDE = scene(
    'submit Job in "team-vision" pods 4 each { gpu 1 }', "expect warned by wide", name="wide"
)
SPEECH = scene(
    'submit Job in "lab" labels { team "speech" } requests { gpu 1 }',
    "expect queue speech",
    name="speech",
)
ELSE = scene(
    'given namespace "lab" labels { }',
    'submit Job in "lab" requests { cpu 1 }',
    "expect ignored",
    name="else",
)
GUARDED = 'submit Job in "lab" labels { tidegate.dev/queue "guarded" } requests { cpu 1 }'
KEPT_OUT = scene(GUARDED, "expect refused because accept", name="kept out")
LET_IN = scene(
    'given namespace "lab" labels { team "ops" }', GUARDED, "expect queue guarded", name="let in"
)
ALL = (IN, OUT, WIDE, SPEECH, ELSE, KEPT_OUT, LET_IN)


def missing(*tests: str, policy: str = POLICY) -> dict[str, str]:
    """What is uncovered, and why."""
    trials = run(*tests, policy=policy)
    assert trials.passed, trials.problems
    return {item.title: item.missing for item in trials.coverage.uncovered}


def test_tests_that_exercise_every_rule_cover_all() -> None:
    trials = run(*ALL)
    assert trials.passed
    assert (trials.coverage.covered, len(trials.coverage.items)) == (6, 6)
    assert trials.coverage.percent == 100
    assert trials.untested == ()


@pytest.mark.parametrize(
    ("left_out", "rule", "why"),
    [
        (OUT, "deny too-big", "no test is denied by it"),
        (WIDE, "warn wide", "no test is warned by it"),
        (SPEECH, "route speech", "no test takes it"),
        (ELSE, "route otherwise", "no test comes to it"),
        (KEPT_OUT, "accept of guarded", "no test is not let in by it"),
        (LET_IN, "accept of guarded", "no test is let in by it"),
    ],
    ids=lambda value: value if "\n" not in value else "",
)
def test_without_its_test_a_rule_is_uncovered(left_out: str, rule: str, why: str) -> None:
    assert missing(*(test for test in ALL if test is not left_out)) == {rule: why}


def test_a_deny_that_lets_nobody_through_is_half_tested() -> None:
    assert missing(OUT)["deny too-big"] == "no test is let through"


def test_an_unconditional_route_and_set_are_covered_by_coming_to_them() -> None:
    policy = "queue q { quota { cpu 4 } }\nroute to q\nroute otherwise ignore\n"
    test = scene('submit Job in "lab" requests { cpu 1 }', "expect queue q")
    assert missing(test, policy=policy) == {"route otherwise": "no test comes to it"}


def test_a_limit_is_covered_by_whom_it_stops() -> None:
    policy = "queue q {\n  quota { cpu 9 }\n  limit jobs 1 per user\n  limit cpu 5 per namespace\n}\nroute to q\n"
    test = scene(
        "given queue q running { cpu 1 }",
        'submit Job in "lab" requests { cpu 1 }',
        "expect waiting because limit",
    )
    trials = run(test, policy=policy)
    assert trials.passed
    (item,) = trials.coverage.uncovered
    assert (item.place, item.missing) == ("policies/ml.tide:4", "no test reaches it")


def test_rules_under_audit_do_not_count() -> None:
    policy = POLICY + (
        'route trial when namespace == "team-vision" to speech audit\n'
        'deny strict when pods > 2 audit {\n  message "at most 2 pods, these are {pods}"\n}\n'
        'warn more when pods > 2 audit {\n  message "2 pods are usual, these are {pods}"\n}\n'
    )
    trials = run(*ALL, policy=policy)
    assert trials.passed
    assert len(trials.coverage.items) == 6
    assert trials.coverage.percent == 100


def test_an_uncovered_rule_is_told_at_its_line_unless_that_is_suppressed() -> None:
    policy = 'queue q { quota { cpu 4 } }\nroute lab when namespace == "lab" to q  # theirs\nroute otherwise ignore\n'
    test = scene('submit Job in "lab" requests { cpu 1 }', "expect queue q")
    (found,) = run(test, policy=policy).untested
    assert (found.code, found.span.line, found.message) == (
        "TG605",
        3,
        "`route otherwise`: no test comes to it",
    )
    mark = "# tidegate: ignore[TG605] said by the cluster's own tests\n"
    suppressed = run(test, policy=policy.replace("route otherwise", mark + "route otherwise"))
    assert suppressed.untested == ()
    assert suppressed.coverage.percent == 100
    assert [item.title for item in suppressed.coverage.items] == ["route lab"]


def test_a_suppression_of_an_untested_rule_is_not_unused_for_the_lint() -> None:
    text = "queue q { quota { cpu 4 } }\n# tidegate: ignore[TG605] hard to try\nroute otherwise ignore\n"
    assert codes(text) == []
    assert codes(text.replace("TG605", "TG308")) == ["TG704"]


def test_a_policy_without_tests_has_no_rule_without_a_test() -> None:
    trials = run()
    assert (trials.trials, trials.untested) == ((), ())
    assert trials.coverage.percent == 0


def test_percent_is_rounded_down_and_nothing_to_cover_is_all() -> None:
    assert run(IN, WIDE, SPEECH, ELSE, KEPT_OUT, LET_IN).coverage.percent == 83
    assert run(policy="queue q { quota { cpu 1 } }\n").coverage.percent == 100


def test_only_those_whose_name_contains_a_text_are_run() -> None:
    policy, files = load("\n".join((POLICY, *ALL)))
    names = [t.scene.name for t in try_all(policy, files, no_file, name_contains="in").trials]
    assert names == ["in", "let in"]


def test_one_test_leaves_nothing_behind_for_the_next() -> None:
    """What ran in one scene is charged in no other, and what one submission did is told of no other."""
    full = scene(
        "given queue vision running { gpu 8 }",
        "given queue vision running { gpu 4 } on spot",
        'submit Job in "team-vision" requests { gpu 1 }',
        "expect waiting because quota",
        name="full",
    )
    assert run(full, IN).passed
    assert run(IN, full).passed


def test_a_file_that_is_missing_is_told_at_its_line() -> None:
    trials = run(scene('submit file "job.yaml"', "expect queue vision"))
    (found,) = trials.problems
    assert (found.code, found.message) == ("TG606", "job.yaml: no such file")
    assert found.span.place == trials.trials[0].scene.submission.place


@pytest.mark.parametrize(
    ("word", "line", "test", "runs"),
    [
        ("preempt", "queue vision {", IN, False),
        ("preempt", "queue speech {", IN, False),  # a sibling: what it may do changes what is free
        ("preempt", "queue guarded {", IN, True),
        ("preempt", "queue guarded {", LET_IN, False),
        ("share", "cohort research {", IN, False),
        ("share", "cohort research {", LET_IN, True),
        ("mode", "warn wide", IN, True),
        ("kind", "warn wide", IN, True),
        ("preempt", "queue vision {", KEPT_OUT, True),
    ],
)
def test_what_is_not_obeyed_stops_the_tests_it_touches(
    word: str, line: str, test: str, runs: bool
) -> None:
    policy, files = load("\n".join((POLICY, test)))
    at = next(n for n, text in enumerate(POLICY.splitlines(), start=1) if line in text)
    place = f"policies/ml.tide:{at}"
    (trial,) = try_all(replace(policy, not_obeyed=((word, place),)), files, no_file).trials
    assert trial.passed is runs
    assert trial.not_run == ("" if runs else f"this version does not obey `{word}` ({place}) yet")


def test_a_place_becomes_the_statement_on_its_line() -> None:
    _, (file,) = load('queue q {  # ours\n  quota { cpu 1 }\n}\nroute when name == "#a" to q\n')
    spans = [span_at(f"policies/ml.tide:{line}", {file.path: file.source}) for line in (1, 2, 4)]
    shown = [file.text[span.start : span.end] for span in spans]
    assert shown == ["queue q", "quota { cpu 1 }", 'route when name == "#a" to q']
