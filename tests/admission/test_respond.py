"""What the submitter reads of a decision: as much as the API server passes on, and nothing a header cannot hold."""

from __future__ import annotations

import pytest

from webhook.admission.decision import WARNING_LIMIT, Reason, Refusal, Told
from webhook.admission.respond import WARNINGS_LIMIT, shown

CONTROLS = "".join(map(chr, (*range(32), *range(127, 160))))


def test_warnings_that_fit_are_shown_as_they_are_and_once() -> None:
    assert shown(("queued in a", "one", "one", "ü…")) == ["queued in a", "one", "ü…"]


def test_a_warning_is_one_line_without_control_characters() -> None:
    assert shown((f"a{CONTROLS}b\u2028c",)) == ["a b c"]


def test_more_than_the_api_server_passes_on_are_counted() -> None:
    told = shown(tuple(f"{n} ".ljust(WARNING_LIMIT, "x") for n in range(40)))
    assert sum(map(len, told)) <= WARNINGS_LIMIT
    assert told[:-1] == [f"{n} ".ljust(WARNING_LIMIT, "x") for n in range(len(told) - 1)]
    assert told[-1] == f"and {40 - len(told) + 1} warnings more"


@pytest.mark.parametrize("length", [10, 399, 400, 5000])
def test_of_a_long_message_the_rule_and_its_place_are_never_cut_off(length: int) -> None:
    told = Told("warn big", "p.tide:3", "x" * length)
    assert len(told.line) <= WARNING_LIMIT
    assert told.line.endswith(" (warn big p.tide:3)")
    assert shown((told.line,)) == [told.line]
    refused = Refusal("y" * length * 10, "deny big", "p.tide:4", Reason.DENIED)
    assert refused.line.endswith("(deny big p.tide:4)")
