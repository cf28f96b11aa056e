"""Suggestions: the nearest word that may stand there, else a known synonym, else none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.language.suggest import distance, suggest
from webhook.language.words import SYNONYMS


@pytest.mark.parametrize(
    ("word", "candidates", "meant"),
    [
        ("vison", ["vision", "speech"], "vision"),
        ("Vision", ["vision"], "vision"),
        ("qeue", ["queue", "quota"], "queue"),
        ("mem", ["cpu", "memory"], "memory"),
        ("maxBorrow", ["borrow", "lend"], "borrow"),
        ("nominalQuota", ["quota", "order"], "quota"),
        ("nominalQuota", ["order"], None),
        ("gpu", ["cpu", "memory"], None),
        ("gpus", ["gpu", "cpu"], "gpu"),
        ("x", ["y"], None),
        ("entirely", ["different"], None),
    ],
)
def test_what_was_probably_meant(word: str, candidates: list[str], meant: str | None) -> None:
    assert suggest(word, candidates) == meant


WORDS = st.text("abc", max_size=6)


@given(WORDS, WORDS)
def test_a_distance_is_symmetric_and_zero_for_equal_words(left: str, right: str) -> None:
    assert distance(left, right, 9) == distance(right, left, 9)
    assert (distance(left, right, 9) == 0) == (left == right)
    assert distance("abcd", "abdc", 9) == 1


def test_no_synonym_is_its_own_meaning() -> None:
    assert all(word != meant for word, meant in SYNONYMS.items())
