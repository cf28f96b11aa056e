"""Nothing that reads a policy raises for what somebody wrote, or takes long: few inputs here, millions by `make soak`.

`TIDEGATE_FUZZ` is the number of inputs, `TIDEGATE_FUZZ_FIRST` the number of the first.
"""

from __future__ import annotations

import os
import resource
from itertools import count

import pytest

from tests.language.fuzzing import attempt, make

MANY = int(os.environ.get("TIDEGATE_FUZZ", "2000000"))
FIRST = int(os.environ.get("TIDEGATE_FUZZ_FIRST", "0"))
MEBIBYTES = 300
"""What a run may grow by, once everything is loaded."""

KNOWN = [
    "set x {\n  spec.a = {\n  }\n}\n",
    'deny a when x . when {\n  message "x"\n}\n',
]
"""What once went wrong."""


def run(first: int, many: int) -> int:
    """Try so many inputs; returns how many were accepted."""
    accepted = 0
    for number in range(first, first + many):
        text = make(number)
        try:
            accepted += attempt(text)
        except Exception as error:
            raise AssertionError(f"input {number}: {text!r}") from error
    return accepted


def test_a_few_inputs() -> None:
    assert run(0, 300) > 30


@pytest.mark.parametrize("text", KNOWN)
def test_what_once_went_wrong(text: str) -> None:
    assert attempt(text)


@pytest.mark.soak
def test_many_inputs() -> None:
    block = 10_000
    run(FIRST, min(block, MANY))
    before, accepted = _mebibytes(), 0
    for first in count(FIRST, block):
        many = min(block, FIRST + MANY - first)
        if many <= 0:
            break
        accepted += run(first, many)
        print(f"{first + many - FIRST} inputs, {accepted} accepted, {_mebibytes()} MiB", flush=True)
        assert _mebibytes() - before < MEBIBYTES


def _mebibytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
