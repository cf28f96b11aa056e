"""What is said of an expectation that does not hold: both sides, the rule that decided, the numbers."""

from __future__ import annotations

import pytest

from tests.rehearsal.scenes import POLICY, run, scene, told, tried

JOB = 'submit Job in "team-vision" '
TOO_BIG = "it is denied by `too-big`: at most 10 GPUs, this one asks for 11"
NEVER = (
    "it is refused because never-fits: can never start:"
    " needs 9 nvidia.com/gpu, vision can never have more than 8 on a100"
)
FULL = "given queue vision running { gpu 8 }"
QUOTA = "quota: needs 5 nvidia.com/gpu, 0 free of 8 on a100; 4 free of 4 on spot"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            (JOB + "requests { cpu 1 }", "expect queue speech"),
            "expected queue `speech`, but it starts in `vision` on `a100`",
        ),
        (
            (FULL, JOB + "requests { gpu 5 }", "expect queue vision", "expect starts on spot"),
            f"expected it to start on `spot`, but it waits in `vision` because {QUOTA}",
        ),
        (
            (JOB + "requests { gpu 5 }", "expect waiting because quota"),
            "expected it to wait because quota, but it starts in `vision` on `a100`",
        ),
        (
            (JOB + "requests { gpu 5 }", "expect queue vision", "expect starts on spot"),
            "expected it to start on `spot`, but it starts in `vision` on `a100`",
        ),
        (
            (JOB + "requests { gpu 11 }", "expect refused because accept"),
            f"expected it to be refused because accept, but {TOO_BIG} (and 1 more)",
        ),
        (
            (JOB + "requests { gpu 9 }", 'expect denied by too-big "no"'),
            f'expected it to be denied by `too-big` with "no", but {NEVER}',
        ),
        (
            (JOB + "requests { cpu 1 }", "expect warned by wide"),
            "expected it to be warned by `wide`, but it starts in `vision` on `a100`",
        ),
        (
            (JOB + "requests { cpu 1 }", "expect queue vision", "expect preempts 2"),
            "expected it to preempt 2, but it starts in `vision` on `a100`",
        ),
        (
            (JOB + "requests { cpu 1 }", "expect set spec.parallelism = 2"),
            "expected `spec.parallelism` to be 2, but it is 1",
        ),
        (
            (JOB + "requests { cpu 1 }", 'expect set metadata.labels["a/b"] = "c"'),
            'expected `metadata.labels["a/b"]` to be "c", but it is not there',
        ),
        (
            (JOB + "requests { cpu 1 }", "expect set spec.template.spec.containers[*].tty = true"),
            "expected `spec.template.spec.containers[*].tty` to be true, but it is not there",
        ),
        (
            (JOB + "requests { cpu 1 }", "expect set spec.parallelism = true"),
            "expected `spec.parallelism` to be true, but it is 1",
        ),
        (
            ('given namespace "team-vision" labels { }', JOB + "requests { cpu 1 }", "expect ignored"),
            "expected it to be ignored, but it starts in `vision` on `a100`",
        ),
        (
            ('submit Job in "lab" requests { cpu 1 }', "expect queue vision"),
            "expected queue `vision`, but it is ignored: no route leads it to a queue",
        ),
    ],
)  # fmt: skip
def test_a_message_says_both_sides(lines: tuple[str, ...], message: str) -> None:
    assert told(*lines) == [message]


def test_every_line_that_does_not_hold_is_reported_at_its_place() -> None:
    trial = tried(
        JOB + "requests { gpu 11 }",
        "expect queue vision  # this one holds",
        "expect denied by too-big",
        'expect refused because accept "x"  # not these',
        "expect warned",
    )
    assert [found.code for found in trial.problems] == ["TG604", "TG604"]
    shown = [(found.span.line, found.span.column) for found in trial.problems]
    assert shown[0][0] + 1 == shown[1][0]
    assert {column for _, column in shown} == {3}
    assert trial.problems[1].span.end_column == len("  expect warned") + 1


def deciders(*lines: str) -> list[tuple[str, str]]:
    """The lines that are shown beside the failure, and why."""
    (trial,) = run(scene(*lines)).trials
    (found, *_) = trial.problems
    text = POLICY.splitlines()
    return [
        (text[span.line - 1][span.column - 1 : span.end_column - 1], label)
        for span, label in found.others
    ]


@pytest.mark.parametrize(
    ("lines", "line", "label"),
    [
        (
            (JOB + "requests { cpu 1 }", "expect queue speech"),
            'route vision for Job, JobSet when namespace == "team-vision" to vision',
            "this leads it to `vision`",
        ),
        (
            (JOB + "requests { gpu 11 }", "expect queue vision", "expect starts"),
            "deny too-big when requests.gpu > 10",
            "denies it",
        ),
        (
            (JOB + "requests { gpu 1 }", "expect denied by too-big"),
            "deny too-big when requests.gpu > 10",
            "not true for it",
        ),
        (
            (JOB + "requests { gpu 1 }", "expect warned by wide"),
            "warn wide when pods > 3",
            "not true for it",
        ),
        (
            ('submit Job in "lab" requests { cpu 1 }', "expect queue vision"),
            "route otherwise ignore",
            "no other route matches",
        ),
        ((JOB + "requests { gpu 1 }", "expect waiting because quota"), "queue vision", "it starts here"),
        (
            ('submit Job in "lab" labels { tidegate.dev/queue "guarded" } requests { cpu 1 }', "expect queue vision"),
            'accept when namespaceObject.metadata.labels["team"] == "ops"',
            "refuses it: accept",
        ),
    ],
)  # fmt: skip
def test_the_rule_that_decided_is_shown(lines: tuple[str, ...], line: str, label: str) -> None:
    assert (line, label) in deciders(*lines)


def test_in_a_namespace_that_no_rule_reaches_no_route_is_blamed() -> None:
    assert deciders('submit Job in "kube-system" requests { cpu 1 }', "expect queue vision") == []


def test_a_route_that_could_not_be_asked_is_noted() -> None:
    trial = tried('submit Job in "lab" requests { cpu 1 }', "expect queue vision")
    (note,) = trial.problems[0].notes
    assert note.startswith("route speech could not be evaluated: ")
    assert note.endswith("(policies/ml.tide:33)")


def test_a_label_that_names_the_queue_is_noted() -> None:
    label = 'labels { tidegate.dev/queue "speech" } '
    trial = tried(JOB + label + "requests { cpu 1 }", "expect queue vision")
    assert trial.problems[0].notes == ("its label names the queue `speech`",)


def test_what_a_policy_says_cannot_command_a_terminal() -> None:
    trial = tried(JOB + "requests { cpu 1 }", 'expect denied "\\u001b[2J\\n"')
    assert trial.problems[0].message.startswith('expected it to be denied with " [2J "')


def test_a_value_that_cannot_be_computed_is_never_there() -> None:
    assert told(JOB + "requests { cpu 1 }", "expect set spec.parallelism = 1 / 0") == [
        "expected `spec.parallelism` to be 1 / 0, but it is 1"
    ]
