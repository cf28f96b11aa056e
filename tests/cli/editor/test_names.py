"""Every use of a name is found, and only those."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Literal, get_type_hints

import pytest

from tests.cli.editor.marked import FILE, marked, workspace
from webhook.cli.editor.names import MESSAGES, ROLES, name_at, places
from webhook.language import syntax
from webhook.language.records import complete

POLICY = """\
resource gpu = nvidia.com/gpu
flavor a100 { }
priority urgent 10
cohort research {
  pool a100 { gpu 4 }
  queue vision { quota a100 { gpu 8 } }
}
queue speech in research { quota a100 { gpu 1 } }
route vision when requests.gpu > 1 && requests["gpu"] < 9 to vision
deny big for Job when queue == "vision" && priority in ["urgent", "x"] && requests.gpu > 4 {
  message "no {requests.gpu}, not in {queue}, {queue == \\"vision\\"}"
}
route otherwise to speech
"""


@pytest.mark.parametrize(
    ("at", "count", "declares"),
    [
        ("queue vi¦sion", 4, 1),  # its declaration, the route's target, the deny, the message
        ("route vi¦sion", 1, 1),  # rules have names of their own
        ("resource g¦pu", 8, 1),
        ("requests.gpu¦ > 1", 8, 1),
        ('requests["g¦pu"', 8, 1),
        ("flavor a1¦00", 4, 1),
        ("cohort rese¦arch", 2, 1),
        ("queue spe¦ech", 2, 1),
        ("priority urg¦ent", 2, 1),
    ],
)
def test_every_use_is_found(at: str, count: int, declares: int) -> None:
    word = at.replace("¦", "")
    assert POLICY.count(word) >= 1
    text, offset = marked(POLICY.replace(word, at, 1))
    assert text == POLICY
    here = workspace(text)
    file = here.file(FILE)
    assert file is not None
    use = name_at(file, offset)
    assert use is not None
    found = places(here.files, use)
    assert (len(found), sum(each.declares for each in found)) == (count, declares)
    assert {text[each.span.start : each.span.end] for each in found} == {use.name}


@pytest.mark.parametrize("at", ["dep¦loy", "resource gpu = nvidia.com/¦gpu", "# a no¦te"])
def test_what_names_nothing_is_no_name(at: str) -> None:
    text, offset = marked(at + "\n")
    file = workspace(text).file(FILE)
    assert file is not None
    assert name_at(file, offset) is None


def test_uses_in_files_with_the_same_text_are_not_mixed_up() -> None:
    here = workspace("route to q\n", "route to q\n", "queue q { quota { cpu 1 } }\n")
    file = here.file(FILE)
    assert file is not None
    use = name_at(file, 9)
    assert use is not None
    assert sorted(each.span.path for each in places(here.files, use)) == ["1.tide", "2.tide", FILE]


def _word_fields() -> set[tuple[str, str]]:
    """Node and field of everything in the tree that holds a bare word."""
    found = set()
    names = {"Expression": object, "Literal": Literal, **vars(syntax)}
    for name, node in inspect.getmembers(syntax, inspect.isclass):
        complete(node)
        if is_dataclass(node):
            hints = get_type_hints(node, vars(import_module(node.__module__)), names)
            found |= {(name, f.name) for f in fields(node) if "leaves.Word" in str(hints[f.name])}
    return found


def test_every_word_of_the_tree_has_a_role() -> None:
    assert _word_fields() == set(ROLES)


def test_every_message_is_a_field_of_the_tree() -> None:
    for node, name in MESSAGES:
        complete(getattr(syntax, node))
        assert name in {f.name for f in fields(getattr(syntax, node))}
