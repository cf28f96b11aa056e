"""Tests inside policies: what is wrong with them before anything runs, and the scene a runner gets."""

import pytest

from tests.language.chunks import expected, plain, problems, reported, split
from tests.language.test_policy import policy, scope
from webhook.language.scenes import Expected, Present, Submission
from webhook.model.quantity import NANO

# ruff: noqa: E501 - marks stand on the guilty line

CHUNKS = """
queue speech { quota { cpu 1 } }
priority urgent 5
deny big when pods > 5 { message "big" }
warn many when pods > 5 { message "many" }
test "names" {
  given namespace "x" labels { team "a b" }   ### TG015 "`a b` is not the value of a label"
  given namespace "x"                         ### TG101 "`given namespace x` stands twice"
  given queue speach running { cpu 1 } on spot priority low  ### TG601 "no queue named `speach`" ### TG601 "no flavor named `spot`" ### TG601 "no priority named `low`"
  given queue speech waiting { cpu 1, cpu 2 } by "a" by "b"  ### TG302 "`cpu` stands twice" ### TG101 "`by` stands twice"
  submit Jobs in "x" requests { cpus 1 }      ### TG601 "`Jobs` is not a kind this version knows" ### TG108 "no resource named `cpus`"
  expect queue vision                         ### TG601 "no queue named `vision`"
  expect denied by bigg                       ### TG601 "no rule named `bigg`"
  expect warned by big                        ### TG601 "`big` is a deny, not a warn"
  expect refused because limits               ### TG004 "there is no reason `limits`"
}
test "names" {                                ### TG101 "a test named `names` stands twice" ### TG602 "this test submits nothing"
  expect waiting because quotas               ### TG004 "there is no reason `quotas`"
}
test "two" {
  submit Job in "x" in "y" pods 0 each { cpu 1 } requests { cpu 1 }   ### TG101 "`in` stands twice" ### TG011 "`0` is out of range" ### TG101 "`requests` stands twice"
  submit Job                                  ### TG602 "this test submits twice" ### TG005 "`in` is missing in this submission" ### TG005 "`requests` is missing in this submission"
  expect starts
  expect waiting                              ### TG603 "`expect waiting` cannot hold beside `expect starts`"
  expect preempts 3                           ### TG603 "`expect preempts` cannot hold beside `expect starts`"
  expect ignored                              ### TG603 "`expect ignored` cannot hold beside `expect starts`"
  expect set spec.x = pods                    ### TG504 "`pods` is not known here"  ### TG603 "`expect set` cannot hold beside `expect ignored`"
}
test "three" {                                ### TG005 "this test expects nothing"
  submit file "job.yaml"
}
test "four" {
  submit Job in "x" requests { cpu 1 }
  expect queue speech
  expect queue speech
  expect denied by big
  expect denied "many"
  expect warned by many
  expect refused because accept
  expect starts                               ### TG603 "`expect starts` cannot hold beside `expect denied`"
}
test "five" {
  submit Job in "x" requests { cpu 1 }
  expect waiting because quota
  expect waiting because limit                ### TG603 "two lines expect something else of `waiting`"
  expect preempts 2
  expect queue speech
  expect set spec[0] = 1                      ### TG004 "a path goes to every item of a list, never to one"
}
"""


@pytest.mark.parametrize("chunk", split(CHUNKS))
def test_each_mistake_is_reported_once_at_its_line(chunk: str) -> None:
    assert reported(plain(chunk)) == expected(chunk)


TEXT = """\
resource gpu = nvidia.com/gpu
flavor a100 { }
priority urgent 5
queue speech { quota a100 { gpu 8 } }
test "speech waits" {
  given  namespace "x" labels { team "vision", a/b "c" }
  given  queue speech running { gpu 8 } on a100 by "ana" priority urgent
  given  queue speech waiting { gpu 1 }
  submit Job in "x" by "bob" groups "g", "h" labels { team "s" } priority urgent pods 4 each { gpu 1 }
  expect queue speech
  expect waiting because quota
  expect set metadata.labels["a"] = "b"
}
test "from a file" {
  submit file "job.yaml"
  expect ignored
}
test "total" {
  submit JobSet in "x" requests { gpu 4 }
  expect refused because never-fits "at most"
  expect denied "x"
}
"""


def test_a_scene_is_what_a_runner_needs() -> None:
    one, two, three = policy(TEXT).tests
    gpu = "nvidia.com/gpu"
    assert (one.name, one.place) == ("speech waits", "p.tide:5")
    assert {name: dict(labels) for name, labels in one.namespaces.items()} == {
        "x": {"team": "vision", "a/b": "c"}
    }
    assert one.present == (
        Present("speech", True, {gpu: 8 * NANO}, "a100", "ana", "urgent", "p.tide:7"),
        Present("speech", False, {gpu: NANO}, place="p.tide:8"),
    )
    assert one.submission == Submission(
        "Job", "x", "bob", ("g", "h"), {"team": "s"}, "urgent", 4, {gpu: NANO},
        place="p.tide:9",
    )  # fmt: skip
    queue, waiting, written = one.expected
    assert queue == Expected("queue", "speech", place="p.tide:10")
    assert waiting == Expected("waiting", reason="quota", place="p.tide:11")
    assert written.path == ("metadata", "labels", "a")
    assert written.value is not None
    assert written.value.evaluate(scope()) == "b"
    assert (two.submission.file, two.expected[0].what) == ("job.yaml", "ignored")
    assert (three.submission.pods, three.submission.each, three.submission.user) == (
        1, {gpu: 4 * NANO}, "anyone",
    )  # fmt: skip
    assert three.expected[0].text == "at most"


def test_tests_do_not_keep_a_policy_from_being_loaded() -> None:
    assert policy(TEXT).not_obeyed == ()


def test_a_test_with_a_line_that_could_not_be_read_is_not_called_empty() -> None:
    text = 'test "x" {\n  submt Job in "x" requests { cpu 1 }\n  expect ignored\n}\n'
    assert [(p.code, p.span.line) for p in problems(text)] == [("TG004", 2)]


@pytest.mark.parametrize(
    ("written", "help_"),
    [
        ("expect waiting because quotas", "did you mean `quota`?"),
        ("expect refused because neverfits", "did you mean `never-fits`?"),
        ("expect queue speach", "did you mean `speech`?"),
        ("expect rejected", "did you mean `denied`?"),
        ("expect queued", "did you mean `queue`?"),
        ("then starts", "did you mean `expect`?"),
    ],
)
def test_the_help_names_the_fix(written: str, help_: str) -> None:
    text = (
        "queue speech { quota { cpu 1 } }\n"
        f'test "x" {{\n  submit Job in "x" requests {{ cpu 1 }}\n  {written}\n}}\n'
    )
    assert [p.help for p in problems(text)] == [help_]
