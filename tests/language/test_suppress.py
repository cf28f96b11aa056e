"""Suppressions: what they hide, what they do not, and what is said about those that are wrong."""

import pytest

from tests.language.chunks import codes, problems

TINY = "queue q {\n  quota {\n    memory 64\n  }\n}\n"


def above(line: int, comment: str, text: str = TINY) -> str:
    lines = text.splitlines(keepends=True)
    return "".join([*lines[: line - 1], f"{comment}\n", *lines[line - 1 :]])


def test_it_holds_for_the_next_line() -> None:
    assert codes(TINY) == ["TG014"]
    assert codes(above(3, "    # tidegate: ignore[TG014] a test bed")) == []
    assert codes(above(3, "#tidegate:ignore[TG308, TG014]: a test bed\n\n  # more")) == ["TG704"]


def test_it_does_not_hold_for_what_is_in_the_block() -> None:
    assert codes(above(2, "# tidegate: ignore[TG014] a test bed")) == ["TG704", "TG014"]


def test_it_holds_for_all_of_a_statement_over_lines() -> None:
    text = "# tidegate: ignore[TG014] a test bed\nqueue q { quota { memory 64,\n  cpu 1 } }\n"
    assert codes(text) == []


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# tidegate: ignore[TG014]", "a suppression without a reason"),
        ("# tidegate: ignore[TG014] -", "a suppression without a reason"),
        ("# tidegate: ignore", "this suppresses nothing"),
        ("# tidegate: ignore[] because", "this suppresses nothing"),
        ("# tidegate: disable[TG014] because", "this suppresses nothing"),
    ],
)
def test_one_that_is_wrong_suppresses_nothing(comment: str, message: str) -> None:
    found = problems(above(3, comment))
    assert [(p.code, p.message) for p in found if p.code == "TG703"] == [("TG703", message)]
    assert "TG014" in [p.code for p in found]


def test_errors_and_unknown_codes_cannot_be_suppressed() -> None:
    text = "# tidegate: ignore[TG104, TG0144, TG308] why not\n" + TINY + "flavor x { }\n"
    assert codes(text) == ["TG704", "TG703", "TG703", "TG014", "TG308"]
    found = problems(text)[1:]
    assert "cannot be suppressed" in found[0].message
    assert found[1].help == "did you mean `TG014`?"
    assert text[found[0].span.start : found[0].span.end] == "TG104"


def test_behind_a_statement_it_says_where_it_belongs() -> None:
    found = problems(TINY.replace("64", "64 # tidegate: ignore[TG014] because"))
    assert [p.code for p in found] == ["TG014", "TG703"]
    assert "line of its own" in found[1].help


def test_while_there_are_errors_nobody_says_it_is_unused() -> None:
    text = "# tidegate: ignore[TG308] bought in May\nqueue q { quota { cpu 1 } }\nroute to p\n"
    assert codes(text) == ["TG104"]


def test_a_mark_inside_a_text_is_none() -> None:
    text = 'queue q { quota { cpu 1 } }\nroute otherwise deny "# tidegate: ignore[TG308]"\n'
    assert codes(text) == []
