"""The rules of a policy as people meet them: warned, refused by a queue, written into, named by labels of others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.apiservers import Client
from tests.cluster.kubectl import Kubectl
from tests.sandbox.hookserver import Registrar, patching, running_hooks
from tests.system.conftest import running_rig
from tests.system.rig import Rig
from tests.system.test_submitters import QUEUE, alice, create, job, refusal, stored, team
from tests.waiting import eventually

__all__ = ["alice", "team"]
OTHER = "kueue.x-k8s.io/queue-name"
PRIORITY = "tidegate.dev/priority"
NOTE = "tidegate.dev/before-sets"
HOLD = "tidegate.dev/hold"
POLICY = f"""
priority high 1000
priority low   100 default

queue open {{ quota {{ cpu 100 }} }}
queue closed {{
  quota {{ cpu 100 }}
  accept when labels["team"] == "closed"
}}

settings {{
  queue-label "{OTHER}"
}}

route closed for Job when labels["sent-to"] == "closed" to closed

warn many-pods when pods > 2 {{ message "{{pods}} pods of {{name}}" }}

set tidy for Job when !has(object.spec.ttlSecondsAfterFinished) {{
  spec.ttlSecondsAfterFinished               = 86400
  metadata.annotations["example.com/a.b"]    = user
  spec.template.spec.containers[*].resources.limits["cpu"] = requests.cpu
}}
set double for Job when labels["double"] == "yes" {{
  spec.parallelism = object.spec.parallelism * 2
  spec.completions = object.spec.completions * 2
}}
set first for Job when labels["boss"] == "yes" {{
  metadata.labels["{PRIORITY}"] = "high"
}}
set spoiled for Job when labels["spoiled"] == "yes" {{
  spec.backoffLimit = 1 - 2
}}
"""


@pytest.fixture(scope="module")
def rig(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with running_rig(server, tmp_path_factory.mktemp("rules"), POLICY) as rig:
        yield rig


def held(name: str, queue: str = "open", pods: int = 1, **labels: str) -> dict[str, Any]:
    """A Job that nobody starts."""
    obj = job(name, queue, pods=pods)
    obj["metadata"]["labels"] |= labels
    obj["metadata"]["annotations"] = {HOLD: "test"}
    return obj


def warnings(done: Any) -> list[str]:
    assert done.returncode == 0, done.stderr
    return [line for line in done.stderr.splitlines() if line.startswith("Warning: ")]


MANY = "Warning: 3 pods of many (warn many-pods policies/teams.tide:17)"


def test_a_warning_is_shown_with_its_rule_and_place_behind_the_queue(alice: Kubectl) -> None:
    told = warnings(create(alice, held("many", pods=3)))
    assert told[0].startswith("Warning: queued in open: on hold (test)")
    assert told[1:] == [MANY]


def test_an_edit_is_warned_of_what_it_brings_about(team: Client, alice: Kubectl) -> None:
    assert len(warnings(create(alice, held("many")))) == 1
    sooner = '{"spec":{"parallelism":3}}'
    done = alice.run("patch", "job", "many", "--type=merge", "-p", sooner)
    assert warnings(done) == []  # one completion is left, so one pod: nothing has grown
    assert create(alice, held("wide", pods=4)).returncode == 0
    fewer, more = (json.dumps({"spec": {"parallelism": pods}}) for pods in (1, 3))
    assert warnings(alice.run("patch", "job", "wide", "--type=merge", "-p", fewer)) == []
    done = alice.run("patch", "job", "wide", "--type=merge", "-p", more)
    assert warnings(done) == [MANY.replace("of many", "of wide")]
    assert warnings(alice.run("label", "job", "many", "x=y")) == []
    assert warnings(alice.run("annotate", "job", "many", "x=y")) == []


def test_a_queue_refuses_whom_it_does_not_accept(team: Client, alice: Kubectl) -> None:
    told = refusal(create(alice, held("out", "closed", team="open")))
    assert told == ("queue closed does not accept this workload (accept policies/teams.tide:8)")
    sent = held("sent", "open", 1, **{"sent-to": "closed", "team": "x"})
    del sent["metadata"]["labels"][QUEUE]
    assert refusal(create(alice, sent)) == (
        "queue closed does not accept this workload"
        " (accept policies/teams.tide:8; route closed policies/teams.tide:15)"
    )
    assert create(alice, held("in", "closed", team="closed")).returncode == 0
    assert create(alice, held("moves", team="open")).returncode == 0
    done = alice.run("label", "--overwrite", "job", "moves", f"{QUEUE}=closed")
    assert refusal(done).startswith("queue closed does not accept this workload")
    both = alice.run("label", "--overwrite", "job", "moves", f"{QUEUE}=closed", "team=closed")
    assert both.returncode == 0
    assert stored(team, "moves")["metadata"]["labels"][QUEUE] == "closed"


def test_what_sets_write_is_stored(team: Client, alice: Kubectl) -> None:
    assert create(alice, held("tidy")).returncode == 0
    obj = stored(team, "tidy")
    assert obj["spec"]["ttlSecondsAfterFinished"] == 86400
    assert obj["metadata"]["annotations"]["example.com/a.b"] == "alice"
    (container,) = obj["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"]["cpu"] == "1"
    assert NOTE not in obj["metadata"]["annotations"]


def test_a_dry_run_shows_it_and_writes_nothing(team: Client, alice: Kubectl) -> None:
    done = alice.run(
        "create", "--dry-run=server", "-o", "json", "-f", "-", stdin=json.dumps(held("dry"))
    )
    assert json.loads(done.stdout)["spec"]["ttlSecondsAfterFinished"] == 86400
    assert team.get(team.path("jobs", "dry")).code == 404


def test_what_a_set_asks_for_is_charged_and_starts(team: Client, alice: Kubectl) -> None:
    obj = job("boss", "open", pods=2)
    obj["metadata"]["labels"] |= {"boss": "yes", "double": "yes"}
    assert create(alice, obj).returncode == 0
    eventually(lambda: stored(team, "boss")["spec"]["suspend"] is False)
    after = stored(team, "boss")
    assert (after["spec"]["parallelism"], after["spec"]["completions"]) == (4, 4)
    assert after["metadata"]["labels"][PRIORITY] == "high"
    record = json.loads(after["metadata"]["annotations"]["tidegate.dev/admission"])
    assert "4" in json.dumps(record)


def test_what_a_set_spoils_is_refused_by_the_api_server(alice: Kubectl) -> None:
    done = create(alice, held("spoiled", spoiled="yes"))
    assert done.returncode == 1
    assert "spec.backoffLimit" in done.stderr


def test_asked_a_second_time_the_webhook_writes_nothing_twice(team: Client, alice: Kubectl) -> None:
    """Another webhook, behind ours by its name, changes the object: the API server asks ours again."""
    with running_hooks() as hooks:
        registrar = Registrar(team, hooks)
        path, sidecar = "/spec/template/spec/containers/-", {"name": "side", "image": "x"}
        hooks.answers["/late"] = patching({"op": "add", "path": path, "value": sidecar})
        only = {"operations": ["CREATE"]}
        entry = registrar.entry("/late")
        entry["rules"][0] |= only
        registrar.mutating(entry, name="zzz")
        try:
            assert create(alice, held("twice", pods=2, double="yes")).returncode == 0
        finally:
            registrar.remove()
    obj = stored(team, "twice")
    assert (obj["spec"]["parallelism"], obj["spec"]["completions"]) == (4, 4)
    assert obj["spec"]["suspend"] is True
    side = obj["spec"]["template"]["spec"]["containers"][1]
    assert side["name"] == "side"
    assert side["resources"]["limits"]["cpu"] == "2", "it was there when the sets were judged again"


def test_labels_of_others_name_the_queue(team: Client, alice: Kubectl) -> None:
    obj = held("theirs")
    obj["metadata"]["labels"] = {OTHER: "open", "app": "test"}
    assert warnings(create(alice, obj))[0].startswith("Warning: queued in open")
    assert stored(team, "theirs")["metadata"]["labels"][QUEUE] == "open"
    two = f"two labels name different queues: {QUEUE} says 'open', {OTHER} says 'closed'"
    assert refusal(create(alice, held("both", "open", 1, **{OTHER: "closed"}))) == two
    for key in (QUEUE, OTHER):
        done = alice.run("label", "--overwrite", "job", "theirs", f"{key}=closed")
        assert done.returncode == 1
        assert "two labels name different queues" in done.stderr
    assert alice.run("label", "job", "theirs", f"{QUEUE}-").returncode == 0
    assert stored(team, "theirs")["metadata"]["labels"][QUEUE] == "open"
    assert alice.run("label", "job", "theirs", f"{OTHER}-").returncode == 0
    assert "stays" in refusal(alice.run("label", "job", "theirs", f"{QUEUE}-"))
