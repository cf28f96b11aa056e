"""Selectors: the grammar, and what a missing label means."""

from __future__ import annotations

import pytest

from webhook.sandbox.resources import EVENTS, JOBS, NODES, PODS
from webhook.sandbox.selectors import field_predicate, label_predicate
from webhook.sandbox.status import StatusError

OBJECT = {"metadata": {"name": "a", "labels": {"x": "1", "app.io/q": "v-1", "empty": ""}}}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("x=1", True),
        ("x == 1 , app.io/q=v-1", True),
        ("x=2", False),
        ("x!=2", True),
        ("y!=2", True),
        ("x in (1, 2)", True),
        ("x notin (1,2)", False),
        ("y notin (1)", True),
        ("x", True),
        ("y", False),
        ("!y", True),
        ("empty=", True),
        ("x>0", True),
        ("x<1", False),
        ("app.io/q>0", False),
    ],
)
def test_labels(selector: str, expected: bool):
    predicate = label_predicate(selector)
    assert predicate is not None
    assert predicate(OBJECT) is expected


def test_nothing_selects_everything():
    assert label_predicate("") is None
    assert field_predicate(PODS, "") is None


@pytest.mark.parametrize("selector", ["a===b", "a in b", "=x", "a b", "a=b=c", ",", "a,"])
def test_what_cannot_be_read_is_a_bad_request(selector: str):
    with pytest.raises(StatusError) as caught:
        label_predicate(selector)
    assert caught.value.code == 400


@pytest.mark.parametrize(
    ("resource", "selector", "expected"),
    [
        (PODS, "spec.nodeName=", True),
        (PODS, "status.phase!=Running,metadata.name=a", True),
        (JOBS, "status.successful=0", True),
        (NODES, "spec.unschedulable=false", True),
        (EVENTS, "involvedObject.uid=u", False),
    ],
)
def test_fields(resource, selector: str, expected: bool):
    predicate = field_predicate(resource, selector)
    assert predicate is not None
    assert predicate(OBJECT) is expected
