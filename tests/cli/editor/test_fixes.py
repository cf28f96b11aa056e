"""What is offered for a finding cures it."""

from __future__ import annotations

import pytest

from tests.cli.editor.marked import FILE, workspace
from webhook.cli.editor.fixes import fix_of

QUEUE = "queue vision { quota { cpu 1 } }\n"


def fixed(text: str, code: str) -> str | None:
    here = workspace(QUEUE + text)
    found = next(p for p in here.problems if p.code == code and p.span.path == FILE)
    fix = fix_of(here, found)
    if fix is None:
        return None
    whole = QUEUE + text
    return (whole[: fix.span.start] + fix.text + whole[fix.span.end :]).removeprefix(QUEUE)


@pytest.mark.parametrize(
    ("text", "code", "wanted"),
    [
        ("route to vison\n", "TG104", "route to vision\n"),
        ("rout to vision\n", "TG004", "route to vision\n"),
        ('deny x when nme == "a" { message "m" }\n', "TG504", 'deny x when name == "a" { message "m" }\n'),
        (
            'deny x for Job when has(object.spec.paralelism) { message "m" }\n', "TG502",
            'deny x for Job when has(object.spec.parallelism) { message "m" }\n',
        ),
        ('deny x for Jub when pods > 3 { message "m" }\n', "TG209", 'deny x for Job when pods > 3 { message "m" }\n'),
        ('deny x when nothing.like > 1 { message "m" }\n', "TG504", None),
        ("queue vision { quota { cpu 1 } }\n", "TG101", None),
    ],
)  # fmt: skip
def test_the_help_of_a_finding_is_a_change(text: str, code: str, wanted: str | None) -> None:
    assert fixed(text, code) == wanted
