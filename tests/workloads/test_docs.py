"""What docs/kinds.md shows is so: every row of its tables is counted."""

import json
from pathlib import Path

import pytest

from tests.workloads.build import admission, job
from webhook.model.quantity import format_quantity
from webhook.workloads.job import BUILT_IN_CONTROLLER, JobAdapter
from webhook.workloads.jobset import BUILT_IN_CONTROLLER as JOBSET_CONTROLLER
from webhook.workloads.requests import pod_requests

PAGE = (Path(__file__).parents[2] / "docs" / "kinds.md").read_text(encoding="utf-8")


def rows(header: str) -> list[list[str]]:
    """The cells of the table with this header, without backticks."""
    lines = PAGE.split(f"| {header} |\n")[1].splitlines()[1:]
    table = lines[: lines.index("")] if "" in lines else lines
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in table]


@pytest.mark.parametrize(("pod", "asks"), rows("pod | asks for"))
def test_a_pod_of_the_page_asks_for_what_the_page_says(pod, asks):
    found = {k: v for k, v in pod_requests(json.loads(pod)).items() if k != "pods"}
    assert ", ".join(f"{k} {format_quantity(v, k)}" for k, v in found.items()) == asks


@pytest.mark.parametrize(
    ("spec", "status", "granted", "phase", "pods"),
    rows("spec | status | granted | phase | charged pods"),
)
def test_a_job_of_the_page_is_charged_as_the_page_says(spec, status, granted, phase, pods):
    record = admission(int(granted)) if granted else None
    obj = job(status=json.loads(status), record=record, **json.loads(spec))
    found = JobAdapter().read(obj, queue="ml", priority=0)
    assert (found.phase.value, sum(found.holds.values())) == (phase, int(pods))


def test_the_page_names_the_controllers_whose_objects_are_ours():
    assert f"`{BUILT_IN_CONTROLLER}`" in PAGE
    assert f"`{JOBSET_CONTROLLER}`" in PAGE
