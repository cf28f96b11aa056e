"""The reference says what is so: its policies are clean, its codes are those that exist, its diagnostic is ours."""

import re
from pathlib import Path

import pytest

from tests.language.chunks import problems
from tests.language.test_render import EXPECTED
from webhook.language.codes import CODES
from webhook.language.obeyed import NOT_YET
from webhook.language.words import STATEMENTS

PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", blocks("tide"))
def test_every_policy_on_the_page_is_clean(block: str) -> None:
    assert problems(block) == ()


def test_the_diagnostic_on_the_page_is_what_is_printed() -> None:
    assert blocks("text") == [EXPECTED]


def test_the_table_of_codes_is_the_registry() -> None:
    rows = re.findall(r"(?m)^\| (TG\d{3}) \| (\w+) \| (.*) \|$", PAGE)
    assert rows == [(c, code.severity.value, code.summary) for c, code in sorted(CODES.items())]


def test_every_statement_is_described() -> None:
    assert [word for word in sorted(STATEMENTS - {"message"}) if f"`{word} " not in PAGE] == []


def test_every_statement_that_is_not_obeyed_yet_is_listed() -> None:
    section = PAGE.partition("### Not obeyed yet")[2].partition("##")[0]
    words = {*NOT_YET.values(), "drain"}
    assert [word for word in sorted(words) if f"`{word}`" not in section] == []
