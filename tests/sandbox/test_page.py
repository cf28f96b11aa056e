"""The example of docs/sandbox.md, run as a reader would run it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.apiservers import running_sandbox
from tests.cluster.kubectl import Kubectl
from webhook.sandbox.resources import RESOURCES

PAGE = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text(encoding="utf-8")


def test_the_job_of_the_page_runs_to_its_end():
    found = re.search(r"<<'EOF'\n(.*?)EOF\n", PAGE, re.DOTALL)
    assert found is not None
    with running_sandbox(speed=100.0) as sandbox:
        kubectl = Kubectl(sandbox.kubeconfig("alice"))
        kubectl.ok("apply", "-f", "-", stdin=found[1])
        done = kubectl.ok("wait", "--for=condition=complete", "job/short", "--timeout=20s")
        assert done == "job.batch/short condition met\n"
        assert "Complete" in kubectl.ok("get", "jobs")


def test_the_page_names_every_kind():
    for resource in RESOURCES:
        if "webhook" not in resource.plural:
            assert resource.plural in PAGE.partition("Kinds:")[2].partition("\n\n")[0]
