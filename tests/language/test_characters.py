"""Characters that are not what they look like, and bytes that are no text."""

import pytest

from tests.language.chunks import problems
from webhook.language.characters import decode, not_utf8
from webhook.language.syntax import Source

ASCII = "outside texts and comments the language uses ASCII only"
TEXT = 'route otherwise deny "a\u200bb"\n'
Q = "queue q { quota { cpu 1 } }\n"


@pytest.mark.parametrize(
    ("text", "message", "help_"),
    [
        (Q.replace(" q", "\u00a0q"), "invisible character U+00A0 no-break space", "write an ordinary space"),
        (Q.replace("q ", "q\u200b "), "invisible character U+200B zero width space", "remove it"),
        (Q.replace("q ", "\u0430 "), "character U+0430 cyrillic small letter a", ASCII),
        (Q + "route otherwise deny \u201cno\u201d\n", "character U+201C left double quotation mark", 'write `"`'),
        (TEXT, "invisible character U+200B zero width space", "write `\\u200b` or remove it"),
        (Q + "# a\u202eb\n", "invisible character U+202E right-to-left override", "remove it"),
    ],
)  # fmt: skip
def test_an_odd_character_is_named_and_nothing_follows_from_it(
    text: str, message: str, help_: str
) -> None:
    found = problems(text)
    assert {p.code for p in found} == {"TG002"}
    assert (found[0].message, found[0].help) == (message, help_)


def test_what_can_be_seen_is_allowed_in_texts_and_comments() -> None:
    assert problems(Q + '# “ä”\u00a0👩\u200d🚀\nroute otherwise deny "“nein”, \u00a0ä 漢"\n') == ()


def test_a_control_character_is_reported_wherever_it_stands() -> None:
    found = problems("# a\x00b\n" + Q + 'route otherwise deny "\x1b[31m"\n')
    assert [(p.code, p.span.line, p.span.column) for p in found] == [
        ("TG001", 1, 4),
        ("TG001", 3, 23),
    ]


@pytest.mark.parametrize(
    ("data", "at"),
    [(b"a\xffb", 1), (b"\xc3\xa4\xff", 1), (b"\xef\xbb\xbfab\xff", 2), (b"a\xc3", 1)],
)
def test_bytes_that_are_no_utf8_have_a_place(data: bytes, at: int) -> None:
    text, offset = decode(data)
    assert offset == at
    found = not_utf8(Source("x", text), at)
    assert (found.code, found.span.start) == ("TG001", at)
    assert decode(b"\xef\xbb\xbfab") == ("ab", None)
