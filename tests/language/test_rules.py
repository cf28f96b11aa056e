"""Warns, sets, accepts, kinds and settings: what is wrong with them, and what they answer."""

from dataclasses import replace

import pytest

from tests.language.chunks import expected, plain, problems, reported, split
from tests.language.test_policy import policy, scope
from webhook.language.paths import EVERY
from webhook.language.settings import PolicySettings
from webhook.model.kinds import Kind

# ruff: noqa: E501 - marks stand on the guilty line

CHUNKS = """
queue q {
  quota { cpu 1 }
  accept when pods                       ### TG503 "a condition is true or false, this is an int"
  accept when queue == "q" && tem == 1   ### TG504 "no variable named `tem`"
}
warn big when pods > 5 { message "many {pod}" }      ### TG504 "no variable named `pod`"
deny big when pods > 9 { message "too many" }        ### TG101 "a rule named `big` is declared twice"
set tidy for Job {
  spec.ttlSecondsAfterFinished = 86400
  spec.ttlSecondsAfterFinished = 1       ### TG101 "`spec.ttlSecondsAfterFinished` is written twice"
  spec.paralelism = 1                    ### TG502 "no field `paralelism` in a JobSpec"
  spec.suspend = false                   ### TG510 "a set may not write `spec.suspend`"
  metadata.name = "x"                    ### TG510 "a set may not write `metadata.name`"
  metadata.labels = {"a": "b"}           ### TG510 "a set may not write `metadata.labels`"
  metadata.labels["tidegate.dev/queue"] = "a"   ### TG510 "a set may not write `metadata.labels["tidegate.dev/queue"]`"
  metadata.labels["tidegate.dev/priority"] = "a"
  metadata.labels["a/b"] = namespace
  metadata.labels['c'] = "x"             ### TG004 "a key in a path stands in double quotes"
  spec.template.spec.containers[*].image = "x"
  spec.template.spec.containers[0].image = "x"  ### TG004 "a path goes to every item of a list, never to one"
  spec.parallelism = null                ### TG510 "null cannot be written"
  status.active = 1                      ### TG510 "a set may not write `status.active`"
  spec = {"a": 1}                        ### TG510 "a set may not write `spec`"
  object.spec.completions = 1            ### TG004 "a path begins at the object, without `object`"
  spec..x = 1                            ### TG004 "`spec..x` is not a path"
}
set empty { }                            ### TG005 "set `empty` writes nothing"
set other when 5 { spec.suspend = true }   ### TG503 "a condition is true or false, this is an int" ### TG510 "a set may not write `spec.suspend`"
---
kind Job {                               ### TG109 "the kind `Job` is built in" ### TG005 "kind `Job` lacks `suspend`, `pods`, `finished`, `active`"
  api "batch/v1" plural "jobs"
}
kind rayJob {                            ### TG015 "`rayJob` is not a kind"
  api "ray.io" plural "RayJobs"          ### TG015 "`ray.io` is not an apiVersion" ### TG015 "`RayJobs` is not the plural name of a resource"
  suspend spec.suspend
  suspend spec.other                     ### TG101 "kind `rayJob` has two `suspend` lines"
  pods head                              ### TG005 "nothing says what pods `head` ask for"
  pods head from spec.x[0]               ### TG101 "pods named `head` are declared twice" ### TG004 "a path goes to every item of a list, never to one"
  pods more from spec.y times 0 * a-b    ### TG011 "`0` is out of range" ### TG015 "`a-b` is not the name of a field"
  pods size requests { gpu cores }       ### TG108 "no resource named `gpu`"
  finished when object.status.state == "done"
  active when status.state == "on"       ### TG504 "no variable named `status`"
}
kind rayJob { }                          ### TG109 "a kind named `rayJob` is declared twice"
queue q { quota { cpu 1 } }
route for rayJob, RayJob to q            ### TG209 "`RayJob` is not a kind this version knows"
---
settings {
  mode audits                            ### TG004 "there is no mode `audits`"
  mode enforce                           ### TG101 "there are two `mode` lines"
  queue-label "a/b" "tidegate.dev/queue" "a/b" "c d"   ### TG210 "`tidegate.dev/queue` is a label of ours" ### TG210 "`a/b` stands twice" ### TG015 "`c d` is not the key of a label"
}
settings { mode enforce }                ### TG111 "there are two `settings`"
"""


@pytest.mark.parametrize("chunk", split(CHUNKS))
def test_each_mistake_is_reported_once_at_its_line(chunk: str) -> None:
    assert reported(plain(chunk)) == expected(chunk)


RULES = """\
queue q {
  quota { cpu 1 }
  accept when labels["team"] == "vision"
  accept when namespace == "vision"
}
queue open { quota { cpu 1 } }
warn many when pods > 5 { message "{pods} pods" }
warn team when labels["team"] == "x" { message "x" }
warn trial when true audit { message "trial" }
set tidy for Job when pods > 1 {
  spec.ttlSecondsAfterFinished = 60 * 60
  metadata.labels["who/is"] = user
}
set other for Job {
  metadata.labels["who/is"] = "nobody"
  spec.template.spec.containers[*].image = "x"
}
set fails { metadata.labels["x"] = labels["y"] }
set note { metadata.annotations["n"] = "v" }
set quiet audit { metadata.labels["t"] = "t" }
"""


def test_warns_that_fire_are_shown_and_one_that_fails_warns() -> None:
    asked = policy(RULES).warnings(scope(pods=6))
    assert [(w.rule, w.place, w.failed) for w in asked] == [
        ("many", "p.tide:7", False),
        ("team", "p.tide:8", True),
    ]
    assert asked[0].message == "6 pods"
    audited = policy(RULES).warnings(scope(labels={"team": "a"}), audit=True)
    assert [w.rule for w in audited] == ["trial"]


def test_of_two_sets_for_one_path_the_first_wins_and_one_that_fails_is_skipped() -> None:
    written = policy(RULES).writes(scope(pods=2))
    assert [(w.path, w.value, w.rule, w.place) for w in written.written] == [
        (("spec", "ttlSecondsAfterFinished"), 3600, "tidy", "p.tide:10"),
        (("metadata", "labels", "who/is"), "ana", "tidy", "p.tide:10"),
        (("spec", "template", "spec", "containers", EVERY, "image"), "x", "other", "p.tide:14"),
        (("metadata", "annotations", "n"), "v", "note", "p.tide:19"),
    ]
    assert [(f.rule, f.place) for f in written.failures] == [("fails", "p.tide:18")]
    assert [w.rule for w in policy(RULES).writes(scope(), audit=True).written] == ["quiet"]


def test_a_set_is_for_its_kinds() -> None:
    rules = [w.rule for w in policy(RULES).writes(scope(kind="JobSet", pods=2)).written]
    assert rules == ["note"]


def test_any_accept_line_is_enough_and_one_that_fails_refuses() -> None:
    asked = policy(RULES)
    assert asked.not_accepted("q", scope(labels={"team": "vision"})) is None
    assert asked.not_accepted("q", scope(namespace="vision")) is None
    assert asked.not_accepted("open", scope(namespace="x")) is None
    refused = asked.not_accepted("q", scope(namespace="x"))
    assert refused is not None
    assert refused.places == ("p.tide:3", "p.tide:4")
    assert refused.message.startswith("queue q does not accept this workload: ")
    assert len(refused.failures) == 1
    quiet = asked.not_accepted("q", scope(namespace="x", labels={"team": "y"}))
    assert quiet is not None
    assert quiet.message == "queue q does not accept this workload"


KIND = """\
kind RayJob {
  api      "ray.io/v1" plural "rayjobs"
  suspend  spec.suspend
  pods     head    from spec.rayClusterSpec.headGroupSpec.template
  pods     workers from spec.rayClusterSpec.workerGroupSpecs[*].template times replicas * numOfHosts * 2
  finished when object.status.jobDeploymentStatus in ["Complete", "Failed"]
  active   when object.status.jobDeploymentStatus == "Running"
  ready    when object.status.rayClusterStatus.state == "ready"
  children Job
}
queue q { quota { cpu 1 } }
route all to q
deny no for RayJob when object.spec.anything == 1 { message "no" }
settings {
  mode audit
  queue-label "kueue.x-k8s.io/queue-name"
}
"""


def test_a_declared_kind_is_known_and_has_no_schema() -> None:
    asked = policy(KIND)
    (kind,) = asked.kinds
    assert (kind.name, kind.kind) == ("RayJob", Kind("RayJob", "ray.io", "v1", "rayjobs"))
    assert kind.suspend == ("spec", "suspend")
    assert kind.children == ("Job",)
    head, workers = kind.pods
    assert head.template == ("spec", "rayClusterSpec", "headGroupSpec", "template")
    assert workers.template is not None
    assert EVERY in workers.template
    assert (workers.factor, workers.fields) == (2, ("replicas", "numOfHosts"))
    done = replace(scope(), object={"status": {"jobDeploymentStatus": "Failed"}})
    assert kind.finished is not None
    assert kind.finished.evaluate(done)
    assert asked.routes[0].kinds == {"Job", "JobSet", "RayJob"}
    assert asked.route(scope(kind="RayJob")).queue == "q"
    assert asked.denies[0].kinds == {"RayJob"}


def test_settings_and_what_is_not_obeyed_yet() -> None:
    asked = policy(KIND)
    assert asked.settings == PolicySettings(True, ("kueue.x-k8s.io/queue-name",))
    assert asked.not_obeyed == (
        ("kind", "p.tide:1"),
        ("mode", "p.tide:15"),
    )
    assert policy(RULES).not_obeyed == ()


@pytest.mark.parametrize(
    ("written", "help_"),
    [
        ("spec.suspend = true", "whether it is suspended is decided by quota"),
        ("metadata.labels = {}", 'name the key: `metadata.labels["KEY"]`'),
        ("spec.parallelism[0] = 1", "write `[*]`"),
        ("object.spec.parallelism = 1", "write `spec.parallelism`"),
        ("metadata.labels[a/b] = 'x'", 'write `["a/b"]`'),
    ],
)
def test_the_help_names_the_fix(written: str, help_: str) -> None:
    found = problems(f"set s for Job {{\n  {written}\n}}\n")
    assert [p.help for p in found] == [help_]
