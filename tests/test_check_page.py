"""The page on `tidegate check` is held to the code: its options, its words, and the example it opens with."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml
from click.testing import CliRunner

from webhook.admission.decision import Reason
from webhook.cli.check import ANYONE, FORMATS, command
from webhook.cli.main import program
from webhook.rehearsal.manifests import MOST_CHARACTERS
from webhook.rehearsal.verdict import Outcome

PAGE = (Path(__file__).parents[1] / "docs" / "check.md").read_text(encoding="utf-8")
POLICY = """resource gpu = nvidia.com/gpu

priority normal 100 default

cohort research {
  queue vision {
    quota { gpu 64 borrow 16, cpu 500 }
  }
  queue speech {
    quota { gpu 32, cpu 400 }
  }
}
route vision for Job, JobSet when namespace == "team-vision" to vision
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team-vision}
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: x, resources: {requests: {cpu: 4, nvidia.com/gpu: 8}, limits: {nvidia.com/gpu: 8}}}
"""


def test_every_option_is_on_the_page_and_no_other() -> None:
    options = {name for each in command.params for name in each.opts if name.startswith("-")}
    assert (
        set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*(?!\w)", re.sub(r"`-`|-f -", "", PAGE)))
        == options
    )
    assert all(f"--format {form}" in PAGE for form in FORMATS if form != "text")
    assert f"`{ANYONE}`" in PAGE
    assert f"{MOST_CHARACTERS >> 20} MiB" in PAGE


def test_every_outcome_and_every_reason_is_on_the_page() -> None:
    assert [each for each in Outcome if f"| `{each.value}` |" not in PAGE] == []
    assert [each for each in Reason if f"`{each.value}`" not in PAGE] == []


def test_the_example_is_what_the_command_says(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "ml.tide").write_text(POLICY)
    (tmp_path / "train.yaml").write_text(JOB.lstrip())
    (block,) = re.findall(r"```text\n\$ tidegate (.*?)```", PAGE, re.DOTALL)
    line, *shown = block.splitlines()
    result = CliRunner().invoke(program, line.split())
    said = [*result.stdout.splitlines(), *result.stderr.splitlines()]
    cut = shown.index("  …")
    assert (said[:cut], said[-1]) == (shown[:cut], shown[-1])


def test_every_field_of_the_json_is_on_the_page(tmp_path: Path) -> None:
    policy, job = tmp_path / "p.tide", tmp_path / "j.yaml"
    policy.write_text(POLICY)
    big = yaml.safe_load(JOB)
    big["spec"]["parallelism"] = big["spec"]["completions"] = 100
    job.write_text(yaml.safe_dump(big))
    result = CliRunner().invoke(program, ["check", str(policy), "-f", str(job), "--format", "json"])
    (found,) = json.loads(result.stdout)["objects"]
    fields = {*found, "own", "most", "borrow", *found["refusals"][0]}
    assert [field for field in sorted(fields) if f"`{field}`" not in PAGE] == []
