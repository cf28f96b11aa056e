"""The policies we ship: each file of the reference is a clean policy, and no statement lacks an example."""

import re
from pathlib import Path

import pytest

from webhook.language.check import lint
from webhook.language.words import STATEMENTS

FOLDER = Path(__file__).parents[2] / "policies"
FILES = sorted(FOLDER.glob("reference/*.tide"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_of_the_reference_is_a_policy_without_findings(file: Path) -> None:
    policy, problems = lint([(file.name, file.read_text(encoding="utf-8"))])
    assert problems == ()
    assert policy is not None


def test_every_statement_has_an_example() -> None:
    text = "\n".join(file.read_text(encoding="utf-8") for file in FOLDER.rglob("*.tide"))
    first = set(re.findall(r"(?m)(?:^|\{)[ \t]*([a-z][-a-z]*)\b", text))
    assert sorted(STATEMENTS - first) == []


def test_the_examples_hold_only_what_is_obeyed() -> None:
    texts = [(file.name, file.read_text(encoding="utf-8")) for file in FOLDER.glob("examples/*")]
    policy, _ = lint(texts)
    assert policy is not None
    assert policy.not_obeyed == ()
