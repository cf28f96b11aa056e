"""The page on linting is held to the code: its policy is clean, its options and formats are those that exist."""

import re
from pathlib import Path

from tests.language.chunks import codes
from webhook.cli.lint import command
from webhook.cli.reports.report import FORMATS
from webhook.language.codes import CODES

PAGE = (Path(__file__).parents[1] / "docs" / "lint.md").read_text(encoding="utf-8")


def test_the_policy_on_the_page_is_clean_by_its_suppression() -> None:
    (block,) = re.findall(r"```tide\n(.*?)```", PAGE, re.DOTALL)
    assert codes(block) == []
    assert codes(block.replace("# tidegate", "#")) == ["TG308"]


def test_every_option_and_format_is_on_the_page_and_no_other() -> None:
    options = {name for each in command.params for name in each.opts if name.startswith("--")}
    assert set(re.findall(r"--[a-z][a-z-]+", PAGE)) == options
    assert [form for form in FORMATS if f"`{form}`" not in PAGE.replace("--format ", "")] == []


def test_every_code_on_the_page_exists() -> None:
    assert set(re.findall(r"TG\d{3}", PAGE)) <= set(CODES)
