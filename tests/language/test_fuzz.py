"""Nothing that reads a policy raises for what somebody wrote, or takes long: few inputs here, millions by `make soak`.

`TIDEGATE_FUZZ` is the number of inputs, `TIDEGATE_FUZZ_FIRST` the number of the first.
"""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

import pytest

from tests.language.fuzzing import attempt, run

MANY = int(os.environ.get("TIDEGATE_FUZZ", "2000000"))
FIRST = int(os.environ.get("TIDEGATE_FUZZ_FIRST", "0"))
BLOCK = 2_000
MEBIBYTES = 400
"""What a process may hold, however many inputs it saw."""

KNOWN = [
    "queue q in q { quota { cpu 1 } }\n",
    "cohort c in q { }\nqueue q in c { quota { cpu 1 } }\n",
    "set x {\n  spec.a = {\n  }\n}\n",
    'deny a when x . when {\n  message "x"\n}\n',
    "cohort c {\n  pool {\n    cpu 1 # a\n    cpu 2,to 3 # b\n  }\n}\n",
    'test "x" {\n  submit Job labels {\n    a "x", when "y"\n  }\n}\n',
]
"""What once went wrong, and is accepted."""
REFUSED = [
    f"queue q {{ quota {{ cpu 4-{'9' * 5_000} }} }}\n",
    'set x {\n  metadata.labels["a "# b" c"] = user\n  metadata.labels["d"] = "e"\n}\n',
]
"""What once went wrong, and ends as a mistake of the text."""


def test_a_few_inputs() -> None:
    assert run(0, 300)[0] > 30


@pytest.mark.parametrize("text", KNOWN)
def test_what_once_went_wrong(text: str) -> None:
    assert attempt(text)


@pytest.mark.parametrize("text", REFUSED)
def test_what_once_went_wrong_is_refused(text: str) -> None:
    assert not attempt(text)


@pytest.mark.soak
def test_many_inputs() -> None:
    firsts = range(FIRST, FIRST + MANY, BLOCK)
    manies = [min(BLOCK, FIRST + MANY - first) for first in firsts]
    done = accepted = 0
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        for many, (read, mebibytes) in zip(manies, pool.map(run, firsts, manies), strict=True):
            done, accepted = done + many, accepted + read
            print(f"{done} inputs, {accepted} accepted, {mebibytes} MiB", flush=True)
            assert mebibytes < MEBIBYTES
