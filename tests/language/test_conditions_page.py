"""The page on conditions shows what is so: its blocks compile, its rows are run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.language.building import SCOPE, compiled, problems
from webhook.language.failures import MOST_STEPS
from webhook.language.functions import FUNCTIONS, METHODS
from webhook.language.macros import MACROS, MOST_ROUNDS, UNKNOWN_LENGTH
from webhook.language.patterns import LONGEST_COMPUTED, MOST_OF_A_SEARCH
from webhook.language.scope import VARIABLES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "conditions.md").read_text(encoding="utf-8")
COSTLY = re.findall(r"```cel-refused\n(.*?)```", PAGE, re.DOTALL)
BLOCKS = re.findall(r"```cel\n(.*?)```", PAGE, re.DOTALL)
ROWS = [
    [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.splitlines()
    if line.startswith("| ")
]


def _bare(cell: str) -> str:
    return cell.removeprefix("`").removesuffix("`")


VALUES = [
    (_bare(row[at]), _bare(row[at + 1]))
    for row in ROWS
    for at in (2 if len(row) == 4 else 0,)
    if row[at].startswith("`") and row[at + 1].startswith("`")
]
REFUSED = [(_bare(row[0]), row[1]) for row in ROWS if row[1].startswith("TG")]


@pytest.mark.parametrize("text", BLOCKS)
def test_a_block_compiles_as_a_condition(text: str) -> None:
    compiled(text.rstrip("\n"), want="bool").evaluate(SCOPE)


@pytest.mark.parametrize(("text", "shown"), VALUES)
def test_a_row_has_the_value_it_says(text: str, shown: str) -> None:
    assert compiled(text, want="text").text(SCOPE) == shown


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_a_row_is_refused_by_the_code_it_says(text: str, code: str) -> None:
    assert [found.code for found in problems(text)] == [code]


def test_what_is_refused_for_its_cost_is() -> None:
    assert [[found.code for found in problems(text.strip())] for text in COSTLY] == [["TG508"]]


def test_the_bounds_are_those_of_the_code() -> None:
    assert f"{MOST_ROUNDS:,} times" in PAGE.replace("\n", " ")
    assert f"counts {UNKNOWN_LENGTH}" in PAGE
    assert f"{MOST_STEPS:,} steps" in PAGE
    assert f"at most {LONGEST_COMPUTED} characters" in PAGE
    assert f"{MOST_OF_A_SEARCH:,};" in PAGE


def test_every_variable_and_function_is_on_the_page() -> None:
    assert {_bare(row[0]) for row in ROWS} >= set(VARIABLES)
    shown = " ".join(text for text, _ in VALUES)
    assert [name for name in (*FUNCTIONS, *METHODS, *MACROS) if f"{name}(" not in shown] == []
    assert (len(BLOCKS) >= 3, len(VALUES) >= 40, len(REFUSED) >= 10) == (True, True, True)
