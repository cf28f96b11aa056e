"""README and the page for submitters are held to the code: the policy is clean, links lead somewhere, words match."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.admission.building import job, pod_spec, submit
from webhook.language.check import lint
from webhook.model.kinds import Key

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SUBMITTING = (ROOT / "docs" / "submitting.md").read_text()


def test_the_policy_of_the_readme_is_clean() -> None:
    blocks = re.findall(r"```tide\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        policy, problems = lint([("README.tide", block)])
        assert policy is not None
        assert [problem.message for problem in problems] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


REFUSED = {
    "no queue named 'vison', did you mean 'vision'?": job(labels={Key.QUEUE: "vison"}),
    "no priority named 'asap' (label tidegate.dev/priority); there are …": job(
        labels={Key.QUEUE: "small", Key.PRIORITY: "asap"}
    ),
    "queue small has no quota for nvidia.com/gpu (…)": job(
        labels={Key.QUEUE: "small"}, pod=pod_spec(**{"nvidia.com/gpu": "1"})
    ),
    "can never start: needs 60 cpu, small can never have more than 10 (…)": job(
        labels={Key.QUEUE: "small"}, parallelism=60, completions=60
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals_read_as_the_page_shows_them(words: str) -> None:
    assert f"``{words}``" in SUBMITTING
    pattern = re.escape(words).replace("…", ".*")
    lines = [refusal.line for refusal in submit(REFUSED[words])[1].refusals]
    assert any(re.fullmatch(pattern, line) for line in lines), lines
