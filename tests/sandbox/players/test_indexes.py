from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.sandbox.players.indexes import format_indexes, parse_indexes


@pytest.mark.parametrize(
    ("indexes", "text"),
    [([], ""), ([3], "3"), ([1, 2], "1,2"), ([0, 1, 2, 3, 7], "0-3,7"), ([5, 4, 4, 6], "4-6")],
)
def test_indexes_are_written_as_the_job_controller_writes_them(indexes: list[int], text: str):
    assert format_indexes(indexes) == text


@given(st.sets(st.integers(0, 60)))
def test_what_is_written_is_read_back(indexes: set[int]):
    assert parse_indexes(format_indexes(indexes)) == indexes
