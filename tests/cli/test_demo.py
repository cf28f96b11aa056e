"""The demo: its day, its own arithmetic, its screen and summary, and one whole run as a reader starts it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from rich.console import Console

from tests.admission.building import Cluster, request
from webhook.admission.decide import Judge, mutate
from webhook.admission.knowledge import Identity
from webhook.admission.rules import Rules
from webhook.cli.demonstration.audit import Audit, Moment
from webhook.cli.demonstration.borrowed import Lent, kubeconfig_of_account
from webhook.cli.demonstration.day import refusal_text
from webhook.cli.demonstration.grants import Grants
from webhook.cli.demonstration.picture import (
    Bar,
    CohortPicture,
    Picture,
    Progress,
    QueuePicture,
    SharedPicture,
    Waits,
)
from webhook.cli.demonstration.screen import screen
from webhook.cli.demonstration.stage import NoStage
from webhook.cli.demonstration.summary import Peak, Summary, amount_text, as_json, as_text, peaks
from webhook.cli.demonstration.watching import Happening, Sort, World
from webhook.cli.demonstration.workday import QUEUES, clock_text, workday
from webhook.cli.exits import Exit
from webhook.cli.main import program
from webhook.language.check import load_policy
from webhook.language.policy import Policy
from webhook.model.event import Gone, Seen
from webhook.model.kinds import JOB, JOBSET, Object
from webhook.model.queues import FlavorResource
from webhook.quota.tree import Tree

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "policies" / "examples"
CPU = FlavorResource("default", "cpu")
NANO = 10**9
POLICY = """
cohort all {
  cap { cpu 6 }
  queue a { quota { cpu 4 borrow 2 } }
  queue b { quota { cpu 4 } }
}
"""


@pytest.fixture(scope="module")
def policy() -> Policy:
    texts = [(str(path), path.read_text()) for path in sorted(EXAMPLES.rglob("*.tide"))]
    return load_policy(texts)


# the day


def test_the_same_seed_makes_the_same_day() -> None:
    assert workday(seed=3, seconds=60) == workday(seed=3, seconds=60)
    assert workday(seed=3, seconds=60) != workday(seed=4, seconds=60)


def test_a_day_is_in_order_of_many_teams_and_both_kinds() -> None:
    day = workday(seed=1, seconds=60)
    assert [one.at for one in day] == sorted(one.at for one in day)
    assert all(0 < one.at < 1 for one in day)
    assert {one.namespace for one in day} == {f"team-{queue}" for queue in QUEUES}
    assert {one.kind for one in day} == {JOB, JOBSET}
    names = [(one.namespace, one.name) for one in day]
    assert len(set(names)) == len(names)


def test_a_short_day_has_less_work() -> None:
    assert len(workday(seed=1, seconds=5)) < len(workday(seed=1, seconds=60)) / 2


@pytest.mark.parametrize("seed", range(4))
def test_all_work_fits_the_examples_but_what_is_meant_not_to(policy: Policy, seed: int) -> None:
    judge = Judge(Rules.of(policy), Cluster(), Identity())
    for one in workday(seed=seed, seconds=60):
        decision = mutate(request(one.object), judge, 1e9)
        assert bool(decision.refusals) == one.doomed, (one.name, decision)
        assert one.doomed or decision.note == "queued"


def test_the_clock_runs_into_the_night() -> None:
    assert [clock_text(hours) for hours in (0, 6.5, 17)] == ["08:00", "14:30", "01:00"]


def test_a_refusal_is_shown_in_the_words_of_the_webhook() -> None:
    message = 'admission webhook "create.tidegate.dev" denied the request: no queue named x'
    assert refusal_text(message) == "no queue named x"
    assert refusal_text("no answer") == "no answer"


# the arithmetic


def test_what_a_queue_could_hold_is_what_the_product_says(policy: Policy) -> None:
    grants, tree = Grants(policy.quotas), Tree(policy.quotas)
    for queue in policy.quotas.queues:
        for number, pair in enumerate(tree.pairs):
            assert grants.most(queue, pair) == tree.potential(tree.nodes[queue], number)


def moment(version: int, uid: str, queue: str, cpu: int) -> Moment:
    return Moment(version, uid, queue, {CPU: cpu * NANO} if cpu else {})


@pytest.fixture
def audit() -> Audit:
    return Audit(load_policy([("a.tide", POLICY)]).quotas)


def test_borrowing_is_no_overdraft(audit: Audit) -> None:
    audit.record(moment(1, "x", "a", 6))
    assert audit.findings().over_moments == 0
    assert audit.findings().most == {"a": {"cpu": 6 * NANO}}


@pytest.mark.parametrize(
    "moments",
    [
        [moment(1, "x", "a", 7)],
        [moment(1, "x", "a", 3), moment(2, "y", "b", 4)],
        [moment(1, "x", "b", 7)],
    ],
    ids=["borrows too much", "above the cap", "above all there is"],
)
def test_more_than_the_policy_grants_is_found(audit: Audit, moments: list[Moment]) -> None:
    for one in moments:
        audit.record(one)
    assert audit.findings().over_moments == 1
    assert "over its cpu" in audit.findings().worst


def test_moments_are_judged_in_the_order_of_the_server(audit: Audit) -> None:
    audit.record(moment(1, "x", "a", 6))
    audit.record(moment(3, "y", "b", 6))
    assert audit.findings().over_moments == 1
    audit.record(moment(2, "x", "a", 0))
    assert audit.findings().over_moments == 0


def test_what_the_other_watch_has_yet_to_tell_is_waited_for(audit: Audit) -> None:
    audit.record(moment(1, "x", "a", 6))
    audit.record(moment(3, "y", "b", 6))
    assert audit.findings(until=2).over_moments == 0


# the watch


def job(version: int, *, suspend: bool, done: bool = False) -> Object:
    record = {
        "queue": "etl",
        "at": "2026-01-01T00:00:00.000000Z",
        "revision": "r",
        "podSets": [
            {"name": "main", "count": 2, "flavors": {"cpu": "default"}, "amounts": {"cpu": "4"}}
        ],
    }
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "2"}}}
    conditions = [{"type": "Complete", "status": "True"}] if done else []
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "report",
            "namespace": "team-etl",
            "uid": "u",
            "resourceVersion": str(version),
            "labels": {"tidegate.dev/queue": "etl"},
            "annotations": {} if suspend else {"tidegate.dev/admission": json.dumps(record)},
        },
        "spec": {
            "suspend": suspend,
            "parallelism": 2,
            "completions": 2,
            "template": {"spec": {"containers": [container]}},
        },
        "status": {"conditions": conditions},
    }


def test_a_workload_is_followed_from_waiting_to_its_end(policy: Policy) -> None:
    world = World(policy.quotas, lambda: 10.0, hour_seconds=5.0)
    world.take(Seen(JOB, job(1, suspend=True)))
    assert (world.started, world.usage("etl")) == (set(), {})
    world.take(Seen(JOB, job(2, suspend=False)))
    assert (world.started, world.usage("etl")) == ({"u"}, {CPU: 4 * NANO})
    world.take(Seen(JOB, job(3, suspend=False, done=True)))
    world.take(Gone(JOB, job(3, suspend=False, done=True)))
    assert (world.finished, world.usage("etl")) == ({"u"}, {})
    assert [(one.at, one.sort) for one in world.happenings] == [
        (2.0, Sort.STARTED),
        (2.0, Sort.FINISHED),
    ]
    assert world.audit.findings().most["etl"] == {"cpu": 4 * NANO}


# the screen


def picture() -> Picture:
    gpu = "nvidia.com/gpu"
    vision = QueuePicture(
        "vision",
        "first-fit",
        (
            Bar("gpu", gpu, 8 * NANO, 3 * NANO, 8 * NANO, 12 * NANO),
            Bar("memory", "memory", 96 * 2**30 * NANO, 0, 256 * 2**30 * NANO, 448 * 2**30 * NANO),
        ),
        running=4,
        waiting=3,
        finished=21,
        front=(Waits("train-09", 2, "8 gpu, 1 free of 8 on a100"),),
    )
    web = QueuePicture(
        "web",
        "strict",
        (Bar("cpu", "cpu", 500_000_000, 0, 8 * NANO, 24 * NANO),),
        running=1,
        waiting=0,
        finished=9,
        front=(),
    )
    return Picture(
        Progress("14:30", 0.54, 61, 119, 35, 30, 2, 0),
        (
            CohortPicture(
                "research",
                (SharedPicture("cap", "a100 gpu", gpu, 11 * NANO, 14 * NANO),),
                (vision,),
            ),
            CohortPicture("", (), (web,)),
        ),
        (
            Happening(2.0, Sort.REFUSED, "team-etl", "Job team-etl/huge", "can never start"),
            Happening(6.0, Sort.STARTED, "vision", "Job team-vision/eval-03", "a100"),
        ),
        "export KUBECONFIG=/tmp/demo/kubeconfig",
    )


def drawn(width: int, height: int) -> str:
    console = Console(
        record=True, width=width, height=height, file=io.StringIO(), force_terminal=True
    )
    console.print(screen(picture(), width=width, height=height))
    return console.export_text()


def test_the_screen_shows_bars_reasons_and_how_to_join_in() -> None:
    assert [line.rstrip() for line in drawn(120, 30).splitlines()] == SNAPSHOT.splitlines()


@pytest.mark.parametrize("width", [160, 104, 80, 60, 40])
@pytest.mark.parametrize("height", [50, 24, 16])
def test_every_size_shows_the_queues_and_tears_nothing(width: int, height: int) -> None:
    lines = drawn(width, height).splitlines()
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    shown = "\n".join(lines)
    for words in ("vision", "web", "KUBECONFIG=/tmp/demo/kubeconfig", "over quota"):
        assert words in shown


def test_colors_are_left_out_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = Console(width=120, height=30, file=io.StringIO(), force_terminal=True)
    console.print(screen(picture(), width=120, height=30))
    assert isinstance(console.file, io.StringIO)
    assert "\x1b[3" not in console.file.getvalue()


# the summary


def summary(**changes: object) -> Summary:
    values = {
        "planned": 5,
        "submitted": 5,
        "started": 4,
        "finished": 4,
        "failed": 0,
        "refused": 1,
        "unexpected": (),
        "over_quota_moments": 0,
        "worst": "",
        "seconds": 61.26,
        "queues": {"a": {"cpu": Peak(3 * NANO, 2 * NANO), "memory": Peak(0, 0)}},
    }
    return Summary(**(values | changes))  # type: ignore[arg-type]


def test_the_summary_is_one_object_of_json() -> None:
    assert json.loads(as_json(summary())) == {
        "submitted": 5,
        "started": 4,
        "finished": 4,
        "failed": 0,
        "refused": 1,
        "over_quota_moments": 0,
        "seconds": 61.3,
        "queues": {
            "a": {
                "cpu": {"most_used": "3", "quota": "2", "most_used_of_quota": 1.5},
                "memory": {"most_used": "0", "quota": "0", "most_used_of_quota": None},
            }
        },
    }


def test_the_summary_as_text_says_what_went_wrong() -> None:
    text = as_text(summary(over_quota_moments=2, worst="a over its cpu", finished=3), {})
    assert "OVER QUOTA at 2 moments; first: a over its cpu" in text
    assert "1 not finished" in text
    assert "cpu 3 of 2 (150%)" in text


@pytest.mark.parametrize(
    "change",
    [
        {"planned": 6},
        {"finished": 3},
        {"failed": 1},
        {"over_quota_moments": 1},
        {"unexpected": ("Job x",)},
    ],
)
def test_only_a_run_without_a_fault_is_good(change: dict[str, object]) -> None:
    assert summary().good
    assert not summary(**change).good


def test_peaks_name_every_resource_of_every_queue(policy: Policy) -> None:
    found = peaks(policy.quotas, {"etl": {"cpu": 20 * NANO}})
    assert found["etl"]["cpu"].share == 20 * NANO / found["etl"]["cpu"].quota
    assert set(found["web"]) == {"cpu", "memory"}


@pytest.mark.parametrize(
    ("amount", "resource", "text"),
    [
        (12 * NANO, "nvidia.com/gpu", "12"),
        (500_000_000, "cpu", "0.5"),
        (96 * 2**30 * NANO, "memory", "96Gi"),
        (0, "memory", "0"),
    ],
)
def test_amounts_are_short(amount: int, resource: str, text: str) -> None:
    assert amount_text(amount, resource) == text


# a cluster that is lent


def test_the_account_of_the_demo_has_nothing_of_the_readers_credentials(tmp_path: Path) -> None:
    config = {
        "current-context": "mine",
        "contexts": [{"name": "mine", "context": {"cluster": "c", "user": "me"}}],
        "clusters": [
            {"name": "c", "cluster": {"server": "https://x", "certificate-authority": "ca.crt"}}
        ],
        "users": [{"name": "me", "user": {"token": "secret"}}],
    }
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(config))
    text = kubeconfig_of_account(Lent(path, None, None), "token-of-the-account")
    assert "secret" not in text
    found = yaml.safe_load(text)
    assert found["users"][0]["user"] == {"token": "token-of-the-account"}
    assert found["clusters"][0]["cluster"] == {
        "server": "https://x",
        "certificate-authority": str(tmp_path / "ca.crt"),
    }
    with pytest.raises(NoStage, match="no 'other'"):
        kubeconfig_of_account(Lent(path, "other", None), "t")


# the command


def test_a_folder_without_examples_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(program, ["demo", "--once"])
    assert result.exit_code == Exit.USAGE
    assert "give --policies PATH" in result.stderr


def test_a_policy_without_the_queues_of_the_day_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tide").write_text("queue vision { quota { cpu 1 } }\n")
    result = CliRunner().invoke(program, ["demo", "--once", "--policies", str(tmp_path)])
    assert result.exit_code == Exit.USAGE
    assert "has no speech, etl, web" in result.stderr


def demo(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "webhook.cli.main", "demo", "--policies", str(EXAMPLES), *arguments],
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


@pytest.fixture
def children(tmp_path: Path) -> Iterator[Path]:
    """A folder for temporary files; afterwards no process knows of it any more."""
    yield tmp_path
    assert not [
        line
        for line in subprocess.run(
            ["ps", "-eo", "args"], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        if str(tmp_path) in line
    ]


def test_with_stay_it_says_once_that_the_day_is_over_and_ctrl_c_is_a_good_end(
    children: Path,
) -> None:
    with demo("--once", "--seconds", "1", "--stay", folder=children) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert any(line == "the day is over; Ctrl-C ends the demo\n" for line in lines)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (Exit.OK, "")
    assert "over quota: never" in out


def test_a_day_goes_by_and_nothing_is_over_quota(children: Path) -> None:
    with demo("--once", "--seconds", "5", "--json", folder=children) as process:
        out, err = process.communicate(timeout=100)
    assert process.returncode == Exit.OK, err
    found = json.loads(out)
    assert found["over_quota_moments"] == 0
    assert found["submitted"] == found["finished"] + found["refused"] > 20
    assert found["refused"] == 5
    assert found["queues"]["vision"]["nvidia.com/gpu"]["most_used"] != "0"
    assert "export KUBECONFIG=" in err
    assert list(children.iterdir()) == []


def test_sigterm_ends_everything_and_says_how_far_it_came(children: Path) -> None:
    with demo("--once", "--seconds", "60", folder=children) as process:
        assert process.stderr is not None
        said = [process.stderr.readline()]
        while "join in" not in said[-1]:
            assert said[-1], said
            said.append(process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "submitted" in out
    assert list(children.iterdir()) == []


SNAPSHOT = """\
tidegate demo  14:30  ━━━━━━━━━━━━━━━━━━━━━━──────────────────                                          over quota never
61/119 submitted  5 running  24 waiting  30 finished  2 refused

research   cap a100 gpu 11/14
  vision       4 running   gpu    █████████████·     8/8 +3         train-09 +2  8 gpu, 1 free of 8 on a100
  first-fit    3 waiting   memory ███░░░░░······  96Gi/256Gi
              21 finished

  web          1 running   cpu    █░░░░·········   0.5/8            nobody waits
  strict       0 waiting
               9 finished

────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
10:00 ✘ refused  Job team-etl/huge  can never start
14:00 ▶ started  Job team-vision/eval-03  a100
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
join in: export KUBECONFIG=/tmp/demo/kubeconfig
"""
