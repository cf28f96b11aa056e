"""What a quoted text says, and where the expressions of a message stand."""

import pytest

from webhook.language.problems import Problem
from webhook.language.syntax import Source, Text
from webhook.language.texts import Inserted, Part, read_message, read_text


def text(raw: str) -> tuple[Text, Source]:
    source = Source("x", "  " + raw)
    return Text(raw, source.span(2, 2 + len(raw))), source


def message(raw: str) -> tuple[tuple[Part, ...], tuple[Problem, ...]]:
    return read_message(*text(raw))


@pytest.mark.parametrize(
    ("raw", "value"),
    [(r'"a\"b"', 'a"b'), (r'"\\n\n\t"', "\\n\n\t"), (r'"\u00e4"', "ä"), ('"{x}"', "{x}")],
)
def test_escapes(raw: str, value: str) -> None:
    assert read_text(*text(raw)) == (value, ())


@pytest.mark.parametrize(
    ("raw", "at"), [(r'"a\qb"', 4), (r'"\u12"', 3), (r'"\ud800"', 3), (r'"\x41"', 3)]
)
def test_an_escape_that_does_not_exist_has_a_place(raw: str, at: int) -> None:
    (found,) = read_text(*text(raw))[1]
    assert (found.code, found.span.start) == ("TG007", at)


def test_a_message_is_cut_into_texts_and_expressions_with_their_places() -> None:
    parts, problems = message(r'"a {pods} {{b}} {labels[\"t\"]}"')
    assert problems == ()
    assert [p for p in parts if isinstance(p, str)] == ["a ", " ", "{", "b", "}", " "]
    first, second = [p for p in parts if isinstance(p, Inserted)]
    assert (first.span.start, first.span.end) == (6, 10)
    assert first.expression.span.start == 6
    assert second.expression.span.start == 19


@pytest.mark.parametrize(
    ("raw", "at"),
    [('"a {"', 5), ('"a } b"', 5), ('"{}"', 4), ('"{a b}"', 6), ('"{{{"', 5), ('"{a + }"', 7)],
)
def test_a_mistake_in_a_message_has_its_own_place(raw: str, at: int) -> None:
    (found,) = message(raw)[1]
    assert (found.code, found.span.start) == ("TG511", at)
