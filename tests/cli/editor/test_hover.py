"""Hover shows what a line comes to, in numbers worked out by hand."""

from __future__ import annotations

import pytest

from tests.cli.editor.marked import FILE, marked, workspace
from webhook.cli.editor.hover import hover

POLICY = """\
resource gpu = nvidia.com/gpu
flavor a100 {
  node "kind" = "a100"
  tolerate "nvidia.com/gpu" = "present" : NoSchedule
}
priority urgent 10 default
cohort research {
  cap a100 { gpu 80 }
  pool a100 { memory 64Gi }
  queue vision { quota a100 { gpu 64 borrow 10, memory 1Gi } }
  queue speech { quota a100 { gpu 32 lend 16, memory 1Gi } }
}
queue alone { quota { cpu 4 } }
route vision to vision
"""


def shown(at: str, text: str = POLICY) -> str:
    assert at.replace("¦", "") in text
    whole, offset = marked(text.replace(at.replace("¦", ""), at, 1))
    found = hover(workspace(whole), FILE, offset)
    assert found is not None
    return found.text


@pytest.mark.parametrize(
    ("at", "lines"),
    [
        (
            "g¦pu 64 borrow 10",
            [
                "**nvidia.com/gpu** on `a100` of queue `vision`",
                "- own: 64",
                "- most it could ever use: 74, by borrowing what others leave",
                "- all of cohort `research`: 80",  # 64 of vision and the 16 speech lends
                "- cap of cohort `research`: 80",
            ],
        ),
        ("gpu 32 l¦end 16", ["- own: 32", "- most it could ever use: 80, by borrowing what others leave"]),
        ("memory 64¦Gi", ["**memory** on `a100` of cohort `research`", "- own: 64Gi"]),
        ("cpu¦ 4", ["- own: 4", "- most it could ever use: 4, it has nobody to borrow from"]),
        ("flavor a¦100", ["**flavor `a100`**", "- nodes with `kind=a100`"]),
        ("quota a1¦00 { gpu 64", ["- tolerates `nvidia.com/gpu=present`: NoSchedule"]),
        ("priority ur¦gent", ["**priority `urgent`**", "value 10, the default", "ml.tide:6"]),
        ("resource g¦pu", ["stands for `nvidia.com/gpu`"]),
        ("to vis¦ion", ["**queue `vision`**", "| a100 | nvidia.com/gpu | 64 | 74 |"]),
        ("cohort rese¦arch", ["| a100 | memory | 66Gi | 66Gi |"]),
    ],
)  # fmt: skip
def test_numbers(at: str, lines: list[str]) -> None:
    text = shown(at)
    for line in lines:
        assert line in text, text


def test_a_broken_policy_shows_the_numbers_of_the_last_whole_one() -> None:
    last = workspace(POLICY).policy
    text, offset = marked(POLICY.replace("gpu 64", "gp¦u 64") + "queue oops {\n")
    found = hover(workspace(text), FILE, offset, last=last)
    assert found is not None
    assert "- own: 64" in found.text


def test_nothing_to_say_says_nothing() -> None:
    text, offset = marked("queue ¦{ }\n")
    assert hover(workspace(text), FILE, 0) is None
    assert hover(workspace(text), "no.tide", offset) is None
