"""Patterns: what they find, what of them is refused and where, and that none takes long."""

from __future__ import annotations

import time

import pytest

from tests.language.building import problems, spot, value
from webhook.language.conditions import ConditionFailed, Names
from webhook.language.patterns import MOST_OF_A_SEARCH
from webhook.model.kinds import Kind

OPEN = Names((Kind("X", "x.dev", "v1", "xs"),))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('"hubba".matches("ubb")', True),
        ('"hubba".matches("^ubb")', False),
        ('"".matches("")', True),
        ('"a\\nb".matches("a.b")', False),
        ('"a\\nb".matches("(?s)a.b")', True),
        ('"Ä".matches("(?i)^ä$")', True),
        (r'"v12".matches(r"^v\d+$")', True),
        (r'"v12".matches("^v\\d+$")', True),
        ('"mañana".matches("^ma.ana$")', True),
        ('"😀".matches("^.$")', True),
        (r'"a b".matches(r"\bb")', True),
        (r'"q".matches(r"\pL")', True),
        (r'"ab\\C".matches(r"b\\C")', True),
        ('matches(user, "^ana$")', True),
        ('["^a", "x"].exists(p, user.matches(p))', True),
        ('user.matches("^" + user + "$")', True),
    ],
)
def test_a_pattern_is_searched_as_re2_does(text: str, wanted: bool) -> None:
    assert value(text) is wanted


WRONG = [
    ('user.matches("a(b")', "a(b", "`)` is missing", ""),
    ('user.matches("a)b")', "a)b", "`)` is unexpected", ""),
    ('user.matches("[a")', "[a", "`]` is missing", ""),
    ('user.matches("x[z-a]")', "z-a", "invalid character class range", ""),
    ('user.matches("ab**")', "**", "bad repetition operator", "once"),
    ('user.matches("ab++")', "++", "bad repetition operator", "one `+`"),
    ('user.matches("a(?=b)")', "(?=", "not in RE2", "look ahead"),
    ('user.matches("(?!b)a")', "(?!", "not in RE2", "!….matches(…)"),
    ('user.matches("(?<=b)a")', "(?<=", "not in RE2", "look behind"),
    (r'user.matches(r"(a)\1")', r"\1", "invalid escape sequence", "refer back"),
    (r'user.matches("(a)\\1")', r"\\1", "invalid escape sequence", "refer back"),
    (r'user.matches("\t\\d\\y")', r"\\y", "invalid escape sequence", ""),
    (r'user.matches("""é"\\Z""")', r"\\Z", "invalid escape sequence", "`$`"),
    (r'user.matches(r"a\C")', r"\C", "would read a byte", ""),
    ('user.matches("a{1001}")', "{1001}", "invalid repetition size", ""),
    ("user.matches('a\\\\')", "\\\\", "cannot end in a backslash", ""),
    ('matches(user, "a(b")', "a(b", "`)` is missing", ""),
    ('groups.exists(g, g.matches("a(b"))', "a(b", "`)` is missing", ""),
]


@pytest.mark.parametrize(("text", "where", "says", "help_"), WRONG, ids=[row[0] for row in WRONG])
def test_a_literal_that_is_no_pattern_is_reported_where_it_stands(
    text: str, where: str, says: str, help_: str
) -> None:
    (found,) = problems(text)
    assert (found.code, spot(found, text)) == ("TG509", where)
    assert says in found.message
    assert help_ in found.help
    line = text[found.span.column - 1 : found.span.end_column - 1]
    assert (found.span.line, line) == (1, where)


def test_what_stands_twice_is_reported_as_the_whole_literal() -> None:
    text = 'user.matches("++ ++")'
    (found,) = problems(text)
    assert spot(found, text) == '"++ ++"'


def test_types_and_counts_are_checked() -> None:
    for text, where in [
        ("user.matches(1)", "1"),
        ('pods.matches("a")', "pods"),
        ("user.matches()", "matches"),
        ('user.matches("a", "b")', "matches"),
        ('matches("a")', "matches"),
    ]:
        (found,) = problems(text)
        assert (found.code, spot(found, text)) == ("TG503", where)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('user.matches("(" + user)', "`)` is missing"),
        ("user.matches(object.long)", "at most 256"),
        ("user.matches(object.number)", "is a string"),
        ('object.number.matches("a")', "searches a string"),
        ('object.huge.matches("a{1000}")', "too long"),
        ('object.half.matches("a")', "half a character"),
        ("user.matches(object.half)", "half a character"),
    ],
)
def test_what_only_the_request_knows_fails_at_run_time(text: str, says: str) -> None:
    seen = {"long": "a" * 257, "number": 1, "huge": "a" * 100_000, "half": "\ud800"}
    with pytest.raises(ConditionFailed) as failed:
        value(text, OPEN, object=seen)
    assert says in failed.value.message


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a|a)*b", "(a|aa)+$", "(.*a){20}b", "([a-z]+)*\\\\d", "(x|y|a){90}(a*y){10}q"],
)
def test_a_pattern_that_makes_others_track_back_takes_no_time(pattern: str) -> None:
    before = time.process_time()
    value(f'object.x.matches("{pattern}")', OPEN, object={"x": "a" * 100_000 + "!"})
    assert time.process_time() - before < 2


def test_a_text_of_any_usual_length_is_searched() -> None:
    annotation = "a" * (256 * 1024)
    assert value('object.x.matches("^[a-z0-9/._-]+$")', OPEN, object={"x": annotation}) is True
    assert len(annotation) * 100 < MOST_OF_A_SEARCH
