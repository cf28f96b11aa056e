"""Offsets and editor positions are each other's reverse, whatever the text holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.cli.editor.positions import ENCODINGS, Place, offset_of, place_of

TEXTS = st.text(st.sampled_from("ab \t\n\r€𝒳👩‍🚀é"), max_size=40)


@given(TEXTS, st.data())
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_there_and_back(encoding: str, text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    place = place_of(text, offset, encoding=encoding)
    before = text[:offset].rpartition("\n")[2]
    assert place.line == text.count("\n", 0, offset)
    assert place.character == len(before.encode(encoding.replace("-", "_") + "_le" * (encoding != "utf-8"))) // {
        "utf-8": 1, "utf-16": 2, "utf-32": 4
    }[encoding]  # fmt: skip
    if not (before.endswith("\r") or text[offset:].startswith("\r")):
        assert offset_of(text, place, encoding=encoding) == offset


def test_an_emoji_is_two_characters_for_an_editor_and_one_for_us() -> None:
    text = "# 👩 x\nqueue"
    assert place_of(text, text.index("x")) == Place(0, 5)
    assert offset_of(text, Place(0, 5)) == text.index("x") == 4


@pytest.mark.parametrize("place", [Place(0, 99), Place(7, 0)])
def test_a_place_behind_the_end_is_the_end(place: Place) -> None:
    text = "queue é"
    assert offset_of(text, place) == len(text)
