"""Waiting for what a server does in its own time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 30.0
INTERVAL_SECONDS = 0.03


def eventually(ask: Callable[[], T], *, within: float = PATIENCE_SECONDS) -> T:
    """The first answer that is true; an AssertionError of ``ask`` counts as not yet."""
    end = time.monotonic() + within
    while True:
        try:
            if answer := ask():
                return answer
            fault = AssertionError(f"not within {within} seconds: {ask}")
        except AssertionError as error:
            fault = error
        if time.monotonic() > end:
            raise fault
        time.sleep(INTERVAL_SECONDS)
