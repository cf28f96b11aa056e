"""``tidegate check`` as people and CI use it: what it says of which object, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from webhook.cli.checking.text import plain
from webhook.cli.exits import Exit
from webhook.cli.main import program

ROOT = Path(__file__).parents[2]
POLICY = """
resource gpu = nvidia.com/gpu
priority urgent 1000
priority normal 100 default
flavor a100 { node "accelerator" = "a100" }

cohort research {
  queue vision {
    quota a100 { gpu 8 borrow 4, cpu 64 }
    quota { cpu 10 borrow none }
  }
  queue speech { quota a100 { gpu 4, cpu 32 } }
}
queue small { quota { cpu 10 } }

route vision for Job, JobSet when namespace == "team-vision" to vision
route for Job when "ops" in groups to small
route fenced for Job when namespaceObject.metadata.labels["team"] == "small" to small

deny too-many for Job when pods > 50 {
  message "one workload may have at most 50 pods, this one has {pods}"
}
"""


def job(
    name: str = "train", *, queue: str = "", pods: int = 1, cpu: Any = "1", **more: Any
) -> dict[str, Any]:
    about: dict[str, Any] = {"name": name, **more.pop("metadata", {})}
    if queue:
        about["labels"] = {"tidegate.dev/queue": queue}
    asks = {"cpu": cpu, **more.pop("requests", {})}
    container = {"name": "main", "image": "x", "resources": {"requests": asks}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {"parallelism": pods, "completions": pods, "template": template, **more}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": about, "spec": spec}


def jobset(namespace: str = "team-vision") -> dict[str, Any]:
    inner = {"name": "w", "replicas": 2, "template": {"spec": job(pods=2)["spec"]}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "js", "namespace": namespace},
        "spec": {"replicatedJobs": [inner]},
    }


def other(kind: str, api: str = "v1", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "it"}, "spec": spec}


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "ml.tide"
    path.write_text(POLICY)
    return path


def write(folder: Path, *objects: Any, name: str = "jobs.yaml") -> Path:
    path = folder / name
    path.write_text("---\n".join(yaml.safe_dump(each, sort_keys=False) for each in objects))
    return path


def check(policy: Path, *args: str | Path, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(program, ["check", str(policy), *map(str, args)], input=stdin)


def answers(policy: Path, *objects: Any, args: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """What is said of objects that come over standard input, as data."""
    text = "---\n".join(yaml.safe_dump(each) for each in objects)
    result = check(policy, "-f", "-", "--format", "json", *args, stdin=text)
    assert result.exit_code in (Exit.OK, Exit.FOUND), result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)["objects"]
    return found


def test_a_workload_is_shown_with_its_queue_its_numbers_and_the_change(
    policy: Path, tmp_path: Path
) -> None:
    file = write(
        tmp_path,
        job(
            pods=2,
            cpu=4,
            metadata={"namespace": "team-vision"},
            requests={"memory": "1Gi", "nvidia.com/gpu": 1},
        ),
    )
    result = check(policy, "-f", file)
    assert (result.exit_code, result.stderr) == (Exit.OK, "1 object: 1 queued\n")
    lines = result.stdout.splitlines()
    assert lines[:8] == [
        f"{file}:1: Job team-vision/train: queued in vision",
        f"  queue     vision, by route vision ({policy}:16)",
        "  priority  normal (100)",
        "  asks for  2 pods, in all 8 cpu, 2Gi memory, 2 nvidia.com/gpu",
        "  room      nvidia.com/gpu on a100: 8, borrowing up to 4, 12 at most",
        "            cpu on a100: 64, borrowing without bound, 96 at most",
        "            cpu on default: 10, nothing can be borrowed",
        "  uncounted memory: no quota of the queue names it",
    ]
    assert lines[8:10] == [f"  --- {file}:1", "  +++ as it would be stored"]
    added = [line[3:] for line in lines[10:] if line.startswith("  +")]
    assert [line for line in added if "submitted:" not in line] == [
        "  labels:",
        "    tidegate.dev/queue: vision",
        "  annotations:",
        "    tidegate.dev/submitted-by: anyone",
        "    metadata:",
        "      labels:",
        "        tidegate.dev/queue: vision",
        "  suspend: true",
    ]
    removed = [line[3:] for line in lines[10:] if line.startswith("  -")]
    assert removed == ["    metadata: {}", "  suspend: false"]


def test_every_reason_to_refuse_is_told_with_rule_place_and_numbers(
    policy: Path, tmp_path: Path
) -> None:
    file = write(tmp_path, job("big", queue="small", pods=60, cpu=11))
    result = check(policy, "-f", file)
    assert (result.exit_code, result.stderr) == (Exit.FOUND, "1 object: 1 refused\n")
    lines = result.stdout.splitlines()
    assert lines[0] == f"{file}:1: Job default/big: refused"
    assert lines[1:3] == [
        f"  because   one workload may have at most 50 pods, this one has 60 (deny too-many {policy}:20)",
        f"  because   can never start: needs 660 cpu, small can never have more than 10 (queue small {policy}:14)",
    ]
    assert "  queue     small, by label tidegate.dev/queue" in lines
    assert "  room      cpu: 10, nobody to borrow from" in lines
    assert not any(line.startswith("  ---") for line in lines)


@pytest.mark.parametrize(
    ("obj", "reason"),
    [
        (job(queue="small", cpu=11), "never-fits"),
        (job(queue="small", requests={"nvidia.com/gpu": 1}), "uncovered"),
        (job(queue="smal"), "unknown-queue"),
        (job(queue="small", pods=51, cpu="100m"), "denied"),
        (job(queue="small", pods=-1), "forbidden"),
    ],
)
def test_a_refusal_bears_its_kind(policy: Path, obj: dict[str, Any], reason: str) -> None:
    [found] = answers(policy, obj)
    assert (found["outcome"], [each["reason"] for each in found["refusals"]]) == (
        "refused",
        [reason],
    )
    assert found["patch"] == []


@pytest.mark.parametrize(
    ("obj", "why"),
    [
        (job(), "no route matches it"),
        (other("ConfigMap"), "policies are about Job and JobSet"),
        (other("CronJob", "batch/v1"), "each Job it makes is judged when it is made"),
        (other("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", t={"containers": [{}]}), "no quota counts them"),
        (other("Pod", containers=[{"name": "c"}]), "no quota counts them"),
        (job(queue="small", managedBy="kueue.x-k8s.io/multikueue"), "another controller runs it"),
        (job(queue="small", metadata={"namespace": "kube-system"}), "no rule reaches namespace kube-system"),
    ],
)  # fmt: skip
def test_what_is_left_alone_is_never_passed_over_in_silence(
    policy: Path, obj: dict[str, Any], why: str
) -> None:
    [found] = answers(policy, obj)
    assert (found["outcome"], found["queue"], found["patch"]) == ("ignored", None, [])
    assert why in found["why"]


def test_otherwise_is_named_where_it_ignores_and_where_it_refuses(tmp_path: Path) -> None:
    policy = tmp_path / "p.tide"
    policy.write_text("queue q { quota { cpu 1 } }\nroute otherwise ignore\n")
    [found] = answers(policy, job())
    assert (found["outcome"], found["why"], found["place"]) == (
        "ignored",
        "by `route otherwise ignore`",
        f"{policy}:2",
    )
    policy.write_text(
        'queue q { quota { cpu 1 } }\nroute otherwise deny "no queue for {namespace}"\n'
    )
    [found] = answers(policy, job())
    assert found["refusals"] == [{
        "reason": "denied", "rule": "route otherwise", "place": f"{policy}:2", "message": "no queue for default",
    }]  # fmt: skip
    policy.write_text("queue q { quota { cpu 1 } }\nroute otherwise to q\n")
    [found] = answers(policy, job())
    assert (found["queue"], found["why"]) == ("q", "route otherwise")


def test_who_submits_and_where_decides(policy: Path) -> None:
    def queue(*args: str) -> Any:
        return answers(policy, job(), args=args)[0]["queue"]

    assert queue() is None
    assert queue("--group", "dev", "--group", "ops") == "small"
    assert queue("--namespace", "team-vision") == queue("-n", "team-vision") == "vision"
    assert queue("--namespace-labels", "a=b,team=small") == "small"
    assert queue("--namespace-labels", "team=large") is None
    marks = answers(policy, job(queue="small"), args=("--as", "bob"))[0]["patch"]
    assert any(
        op["value"].get("tidegate.dev/submitted-by") == "bob"
        for op in marks
        if isinstance(op["value"], dict)
    )


def test_a_namespace_and_a_priority_class_among_the_files_are_believed(policy: Path) -> None:
    space = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "n", "labels": {"team": "small"}},
    }
    found = answers(
        policy, job(metadata={"namespace": "n"}), space, args=("--namespace-labels", "team=no")
    )
    assert [each["queue"] for each in found] == ["small", None]
    policy.write_text("queue q { quota { cpu 1 } }\nroute otherwise to q\n")
    quick = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "quick"},
        "value": 7,
    }
    urgent = job()
    urgent["spec"]["template"]["spec"]["priorityClassName"] = "quick"
    assert answers(policy, quick, urgent)[1]["priority"] == {"name": "quick", "value": 7}


def test_a_condition_that_cannot_be_evaluated_is_noted(policy: Path) -> None:
    [found] = answers(policy, job())
    assert ["route fenced could not be evaluated" in note for note in found["notes"]] == [True]


def test_a_job_a_jobset_and_a_config_map_in_one_file(policy: Path, tmp_path: Path) -> None:
    file = write(tmp_path, job(queue="small"), other("ConfigMap"), jobset())
    result = check(policy, "-f", file)
    assert (result.exit_code, result.stderr) == (Exit.OK, "3 objects: 2 queued, 1 ignored\n")
    heads = [line for line in result.stdout.splitlines() if line.startswith(str(file))]
    assert [head.rpartition(f"{file}:")[2].split(": ")[0] for head in heads] == ["1", "20", "26"]
    [found] = answers(policy, jobset())
    assert (found["pods"], found["asks"]["cpu"]) == (4, "4")


def test_folders_are_read_whole_in_order_and_hidden_files_are_not(
    policy: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "chart"
    (folder / "sub").mkdir(parents=True)
    (folder / ".git").mkdir()
    write(folder, job("b", queue="small"), name="b.yml")
    write(folder / "sub", job("c", queue="small"), name="c.yaml")
    (folder / "a.json").write_text(json.dumps(job("a", queue="small")))
    write(folder / ".git", job("no", queue="nowhere"))
    (folder / "README.md").write_text("{{ not: yaml")
    (folder / "sub" / "up").symlink_to(folder)
    result = check(policy, "-f", folder, "--format", "json")
    assert [each["name"] for each in json.loads(result.stdout)["objects"]] == ["a", "b", "c"]


def test_warnings_fail_only_when_asked_to(policy: Path) -> None:
    policy.write_text(
        POLICY + 'warn nameless when !("team" in labels) { message "say which team" }\n'
    )
    file = write(policy.parent, job(queue="small"))
    result = check(policy, "-f", file)
    assert result.exit_code == Exit.OK
    assert f"  warning   say which team (warn nameless {policy}:23)" in result.stdout.splitlines()
    assert check(policy, "-f", file, "--strict").exit_code == Exit.FOUND
    named = job(queue="small")
    named["metadata"]["labels"]["team"] = "x"
    assert check(policy, "-f", write(policy.parent, named), "--strict").exit_code == Exit.OK


def test_errors_in_the_policy_are_shown_as_lint_shows_them(policy: Path, tmp_path: Path) -> None:
    policy.write_text("queue q { quota { cpu 1 } }\nroute to r\nflavor spot {}\n")
    result = check(policy, "-f", write(tmp_path, job()))
    assert (result.exit_code, result.stdout) == (Exit.USAGE, "")
    lint = CliRunner().invoke(program, ["lint", "--select", "TG104", str(policy)])
    assert result.stderr.startswith(lint.stdout)
    assert result.stderr.endswith("error: the policy has errors, so nothing was checked\n")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b"a: [", "{}:1: document 1: not YAML: did not find expected node content"),
        (b"kind: A\napiVersion: v1\nmetadata: {}\nkind: B\n", "{}:4: document 1: `kind` stands twice in one map"),
        (b"# nothing\n---\n", "no object in {}"),
        (b"a: \xff\n", "{}:1: not UTF-8"),
        (b"a: 1\n---\n- b\n", "{}:3: document 2: not an object but a list"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_named_with_document_and_line(
    policy: Path, tmp_path: Path, text: bytes, error: str
) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(text)
    result = check(policy, "-f", file)
    assert (result.exit_code, result.stdout) == (Exit.USAGE, "")
    assert f"error: {error.format(file)}" in result.stderr.splitlines()


def test_all_files_that_are_wrong_are_told_at_once(policy: Path, tmp_path: Path) -> None:
    result = check(
        policy,
        "-f",
        tmp_path / "none.yaml",
        "-f",
        "https://example.com/x.yaml",
        "-f",
        tmp_path / "nor.yaml",
    )
    assert result.exit_code == Exit.USAGE
    assert [line.split(": ")[1] for line in result.stderr.splitlines()] == [
        str(tmp_path / "none.yaml"), "https://example.com/x.yaml", str(tmp_path / "nor.yaml"),
    ]  # fmt: skip


def test_wrong_usage_ends_with_two(policy: Path, tmp_path: Path) -> None:
    assert check(policy).exit_code == Exit.USAGE
    assert check(policy, "-f", tmp_path, "--namespace-labels", "team").exit_code == Exit.USAGE
    assert check(tmp_path / "nowhere", "-f", tmp_path).exit_code == Exit.USAGE


def test_a_bomb_is_refused_and_a_large_file_is_not(policy: Path, tmp_path: Path) -> None:
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 15))
    head = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x, labels: {tidegate.dev/queue: small}}\n"
    bomb = check(policy, "-f", "-", stdin=f"{head}a0: &a0 [x]\n{levels}")
    assert bomb.exit_code == Exit.USAGE
    assert "larger than 32 MiB" in bomb.stderr
    many = json.dumps(
        {
            "apiVersion": "v1",
            "kind": "List",
            "items": [job(f"j{n}", queue="small") for n in range(500)],
        }
    )
    result = check(policy, "-f", "-", stdin=many)
    assert (result.exit_code, result.stderr) == (Exit.OK, "500 objects: 500 queued\n")


def test_nothing_in_a_manifest_moves_the_cursor_of_a_terminal(policy: Path, tmp_path: Path) -> None:
    evil = "\x1b[2J\u202e\r\nx"
    file = write(
        tmp_path,
        job(evil, queue=evil),
        job("x", queue="small", metadata={"annotations": {"a": evil}}),
    )
    shown = check(policy, "-f", file).stdout
    assert not [char for char in shown if char != "\n" and plain(char) != char]


def test_the_command_starts_without_a_kubernetes_client_or_a_web_server(
    policy: Path, tmp_path: Path
) -> None:
    file = write(tmp_path, job(queue="small"), jobset())
    script = (
        "import sys\nfrom webhook.cli.main import program\n"
        f"program(['check', {str(policy)!r}, '-f', {str(file)!r}], standalone_mode=False)\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True, env=os.environ,
    )  # fmt: skip
    assert {"aiohttp", "kubernetes", "asyncio", "rich", "cryptography"}.isdisjoint(
        done.stderr.split()
    )
