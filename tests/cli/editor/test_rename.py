"""A rename changes every use in every file and is refused where it would break something."""

from __future__ import annotations

import pytest

from tests.cli.editor.marked import FILE, marked, workspace
from webhook.cli.editor.names import name_at
from webhook.cli.editor.rename import Refused, rename
from webhook.cli.editor.workspace import Workspace

QUEUES = """\
resource gpu = nvidia.com/gpu
queue vision { quota { gpu 8 } }
queue speech { quota { gpu 1 } }
"""
RULES = """\
route vision when requests.gpu > 0 to vision
deny big when queue == "vision" && requests.gpu > 4 { message "{requests.gpu} of {queue}" }
"""


def renamed(at: str, name: str, *texts: str) -> tuple[Workspace, dict[str, str]]:
    whole, offset = marked(texts[0].replace(at.replace("¦", ""), at, 1))
    here = workspace(whole, *texts[1:])
    file = here.file(FILE)
    assert file is not None
    use = name_at(file, offset)
    assert use is not None
    after = {each.path: each.text for each in here.files}
    for fix in sorted(rename(here, use, name), key=lambda fix: -fix.span.start):
        text = after[fix.span.path]
        after[fix.span.path] = text[: fix.span.start] + fix.text + text[fix.span.end :]
    return here, after


def test_all_uses_in_all_files_change_and_no_other_word() -> None:
    _, after = renamed("queue v¦ision", "images", QUEUES, RULES)
    assert after[FILE] == QUEUES.replace("vision", "images")
    assert after["1.tide"] == RULES.replace("to vision", "to images").replace(
        '"vision"', '"images"'
    )


def test_an_alias_changes_in_conditions_and_messages() -> None:
    _, after = renamed("resource g¦pu", "card", QUEUES, RULES)
    assert after[FILE] == QUEUES.replace("gpu", "card").replace("nvidia.com/card", "nvidia.com/gpu")
    assert after["1.tide"] == RULES.replace("gpu", "card")


def test_the_same_name_changes_nothing() -> None:
    _, after = renamed("queue v¦ision", "vision", QUEUES, RULES)
    assert after == {FILE: QUEUES, "1.tide": RULES}


@pytest.mark.parametrize(
    ("at", "name", "why"),
    [
        ("queue v¦ision", "speech", "a queue named `speech` is declared twice"),
        ("queue v¦ision", "Vision", "`Vision` is not a name"),
        ("queue v¦ision", "any", "`any` is a word of the language, not a name"),
        ("resource g¦pu", "memory", "memory"),
        ("queue v¦ision", "a b", "."),
        ("queue v¦ision", "", "."),
    ],
)
def test_what_would_break_the_policy_is_refused(at: str, name: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        renamed(at, name, QUEUES, RULES)


def test_a_name_that_is_declared_nowhere_cannot_be_renamed() -> None:
    with pytest.raises(Refused, match="declared in none"):
        renamed("to vi¦sion", "x", RULES)


def test_a_statement_that_could_not_be_read_may_use_the_name() -> None:
    with pytest.raises(Refused, match=r"1\.tide:2 has a mistake and may use `vision`"):
        renamed("queue v¦ision", "images", QUEUES, "route to speech\nrout vision to vision\n")


def test_a_mistake_elsewhere_is_no_hindrance() -> None:
    _, after = renamed("queue v¦ision", "images", QUEUES, RULES + "rout x to speech\n")
    assert "to images" in after["1.tide"]
