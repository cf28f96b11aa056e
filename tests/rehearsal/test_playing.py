"""What becomes of a submission in a scene, expectation by expectation: the true ones hold, their opposites do not."""

from __future__ import annotations

import pytest

from tests.rehearsal.scenes import POLICY, tried

JOB = 'submit Job in "team-vision" '
SPEECH = 'submit Job in "lab" labels { team "speech" } '


@pytest.mark.parametrize(
    "lines",
    [
        (JOB + "requests { gpu 8 }", "expect queue vision", "expect starts on a100"),
        (JOB + "pods 4 each { gpu 2 }", "expect queue vision", "expect warned by wide"),
        (JOB + "pods 4 each { gpu 2 }", 'expect warned "4 pods are many"', "expect starts"),
        ('submit JobSet in "team-vision" pods 2 each { gpu 4 }', "expect queue vision", "expect starts"),
        (JOB + "requests { gpu 11 }", 'expect denied by too-big "asks for 11"'),
        (JOB + "requests { example.com/tpu 1 }", "expect refused because uncovered"),
        (SPEECH + "requests { gpu 7 }", "expect queue speech", "expect refused because never-fits"),
        (SPEECH + "requests { cpu 1, gpu 6 }", "expect starts on a100", "expect queue speech"),
        (
            JOB + 'labels { tidegate.dev/queue "no-such" } requests { cpu 1 }',
            "expect refused because unknown-queue",
        ),
        (
            JOB + 'labels { tidegate.dev/priority "no-such" } requests { cpu 1 }',
            "expect refused because unknown-priority",
        ),
        ('given namespace "lab" labels { }', 'submit Job in "lab" requests { gpu 99 }', "expect ignored"),
        ('submit Job in "kube-system" requests { gpu 99 }', "expect ignored"),
        (
            'submit Job in "lab" labels { tidegate.dev/queue "guarded" } requests { cpu 1 }',
            "expect refused because accept",
        ),
        (
            'given namespace "lab" labels { team "ops" }',
            'submit Job in "lab" labels { tidegate.dev/queue "guarded" } requests { cpu 1 }',
            "expect queue guarded",
            "expect starts on default",
        ),
        (
            'submit Job in "lab" labels { tidegate.dev/queue "closed" } requests { cpu 1 }',
            "expect queue closed",
            "expect waiting because hold",
        ),
        (
            JOB + "requests { cpu 1 }",
            "expect set spec.suspend = true",
            'expect set metadata.labels["tidegate.dev/queue"] = "vision"',
            'expect set spec.template.spec.containers[*].name = "main"',
        ),
    ],
    ids=lambda lines: lines[-1],
)  # fmt: skip
def test_a_submission_alone(lines: tuple[str, ...]) -> None:
    trial = tried(*lines)
    assert trial.not_run == ""
    assert trial.problems == ()


@pytest.mark.parametrize(
    "lines",
    [
        # all of a100 runs there, spot is free
        ("given queue vision running { gpu 8 }", JOB + "requests { gpu 4 }", "expect starts on spot"),
        ("given queue vision running { gpu 8 } on spot", JOB + "requests { gpu 8 }", "expect starts on a100"),
        # what a sibling runs beyond its quota is borrowed from this one
        ("given queue speech running { gpu 6 }", JOB + "requests { gpu 6 }", "expect starts on a100"),
        ("given queue speech running { gpu 6 }", JOB + "requests { gpu 8 }", "expect waiting because quota"),
        # charged as it stands, far beyond quota
        ("given queue vision running { gpu 99 }", JOB + "requests { gpu 5 }", "expect waiting because quota"),
        # older ones go first, unless the newcomer counts more
        ("given queue speech waiting { gpu 6 }", SPEECH + "requests { gpu 6 }", "expect waiting because quota"),
        (
            "given queue speech waiting { gpu 6 }",
            SPEECH + "priority urgent requests { gpu 6 }",
            "expect starts",
        ),
        (
            "given queue speech waiting { gpu 6 } priority urgent",
            SPEECH + "priority urgent requests { gpu 6 }",
            "expect waiting because quota",
        ),
        # in a strict queue whoever does not fit holds up the rest
        (
            "given queue speech running { gpu 5 }",
            "given queue speech waiting { gpu 2 }",
            SPEECH + "requests { gpu 1 }",
            "expect waiting because order",
        ),
        (
            "given queue vision running { gpu 8 }",
            "given queue vision running { gpu 4 } on spot",
            "given queue vision waiting { gpu 2 }",
            JOB + "requests { cpu 1 }",
            "expect starts",
        ),
    ],
    ids=" / ".join,
)  # fmt: skip
def test_a_submission_among_others(lines: tuple[str, ...]) -> None:
    trial = tried(*lines)
    assert trial.not_run == ""
    assert trial.problems == ()


def test_a_limit_counts_what_its_user_runs() -> None:
    policy = POLICY.replace("    order strict", "    order strict\n    limit jobs 1 per user")
    given = 'given queue speech running { gpu 1 } by "ana"'
    waits = tried(
        given, SPEECH + 'by "ana" requests { gpu 1 }', "expect waiting because limit", policy=policy
    )
    starts = tried(given, SPEECH + 'by "bob" requests { gpu 1 }', "expect starts", policy=policy)
    assert waits.passed
    assert starts.passed


def test_a_policy_under_audit_is_tested_as_it_will_be_in_force() -> None:
    policy = POLICY + "settings { mode audit }\n"
    trial = tried(JOB + "requests { gpu 11 }", "expect denied by too-big", policy=policy)
    assert trial.passed


def test_groups_and_user_are_those_of_the_submission() -> None:
    policy = (
        POLICY
        + 'deny guests when !("staff" in groups) || user == "eve" {\n  message "staff only"\n}\n'
    )
    inside = JOB + 'by "{}" groups "staff", "ml" requests {{ cpu 1 }}'
    assert tried(inside.format("ana"), "expect queue vision", "expect starts", policy=policy).passed
    assert tried(inside.format("eve"), "expect denied by guests", policy=policy).passed
    assert tried(JOB + "requests { cpu 1 }", "expect denied by guests", policy=policy).passed


def test_a_flavor_without_quota_in_the_queue_of_a_given_cannot_be_played() -> None:
    trial = tried(
        "given queue speech running { gpu 1 } on spot", JOB + "requests { cpu 1 }", "expect starts"
    )
    assert not trial.passed
    assert trial.problems == ()
    assert "queue speech has no quota on spot (policies/ml.tide:" in trial.not_run


KIND = """
kind RayJob {
  api      "ray.io/v1" plural "rayjobs"
  suspend  spec.suspend
  pods     head from spec.template
  finished when object.status.done
  active   when object.status.on
}
"""


def test_a_kind_without_an_adapter_is_not_run_and_says_so() -> None:
    trial = tried(
        'submit RayJob in "lab" requests { cpu 1 }', "expect queue vision", policy=POLICY + KIND
    )
    assert "no adapter for the kind RayJob, only for Job and JobSet" in trial.not_run
    assert not trial.passed


def test_a_set_is_seen_on_what_is_stored() -> None:
    policy = (
        POLICY
        + """
set tidy for Job when !has(object.spec.ttlSecondsAfterFinished) {
  spec.ttlSecondsAfterFinished = 86400
  metadata.labels["tidegate.dev/priority"] = "urgent"
}
"""
    )
    lines = (JOB + "requests { cpu 1 }", "expect set spec.ttlSecondsAfterFinished = 86400")
    assert tried(*lines, policy=policy).passed
    assert not tried(*lines).passed
    # the priority that a set writes counts in the line
    older = ("given queue speech waiting { gpu 6 }", SPEECH + "requests { gpu 6 }")
    assert tried(*older, "expect starts", policy=policy).passed
    assert tried(*older, "expect waiting because quota").passed
