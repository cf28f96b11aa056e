"""The page on testing is held to the code: its policy is run, its answers compared, its options those that exist."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.language.chunks import codes
from webhook.cli.main import program
from webhook.cli.test import command
from webhook.cli.trials.results import FORMATS
from webhook.language.codes import BY_TESTS, CODES

PAGE = (Path(__file__).parents[1] / "docs" / "test.md").read_text(encoding="utf-8")
[POLICY] = re.findall(r"```tide\n(.*?)```", PAGE, re.DOTALL)
PASSED, FAILED = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "policies").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "policies"


def run(folder: Path, text: str, *options: str) -> Result:
    (folder / "ml.tide").write_text(text, encoding="utf-8")
    return CliRunner().invoke(program, ["test", "policies", *options])


def test_the_policy_of_the_page_is_clean_and_passes_as_it_says(folder: Path) -> None:
    assert codes(POLICY) == []
    result = run(folder, POLICY)
    assert result.stdout + result.stderr == PASSED
    assert run(folder, POLICY, "--min-coverage", "100").exit_code == 0


def test_the_failure_of_the_page_is_what_is_shown(folder: Path) -> None:
    result = run(folder, POLICY.replace("expect queue vision", "expect queue speech"))
    assert result.stdout.split("\n\n", 1)[1] == FAILED


def test_every_option_and_format_is_on_the_page_and_no_other() -> None:
    options = {name for each in command.params for name in each.opts if name.startswith("--")}
    assert set(re.findall(r"--[a-z][a-z-]+", PAGE)) == options
    assert [form for form in FORMATS if f"`{form}`" not in PAGE.replace("--format ", "")] == []


def test_every_code_on_the_page_exists_and_those_of_the_tests_are_on_it() -> None:
    named = set(re.findall(r"TG\d{3}", PAGE))
    assert named <= set(CODES)
    assert named >= BY_TESTS
