"""Laws of sets, whatever a policy makes them write: fed back they are at rest, what is not theirs stays as it was."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.admission.building import NOW, job, judge, request, submit
from webhook.admission.decide import mutate, validate
from webhook.admission.origin import OUR_MARKS, unmarked
from webhook.admission.pen import Before, Pen, operations, undone
from webhook.language.problems import PolicyErrors
from webhook.model.json_patch import apply_patch, same
from webhook.model.kinds import Key

QUEUES = """
priority high 1000
priority low   100 default
queue open { quota { cpu 1M } }
route all when namespace == "team" to open
"""
PLAIN = judge(QUEUES)
CONDITIONS = (
    "",
    " when !has(object.spec.suspend)",
    ' when "tidegate.dev/queue" in labels',
    ' when !("tidegate.dev/queue" in labels)',
    " when has(object.metadata.annotations)",
    " when size(labels) < 2",
    ' when "a/b~c" in annotations',
    ' when !("a/b~c" in annotations)',
    " when pods > 2",
    " when object.spec.backoffLimit > 2",
    ' when priority == "low"',
    " when has(object.spec.template.metadata)",
)
WRITES = (
    ('metadata.annotations["a/b~c"]', "user"),
    ('metadata.annotations["~1"]', 'annotations["~1"] + "x"'),
    ('metadata.labels["tier"]', '"one"'),
    ('metadata.labels["tier"]', "queue"),
    (f'metadata.labels["{Key.PRIORITY}"]', '"high"'),
    (f'metadata.labels["{Key.PRIORITY}"]', "labels.tier"),
    ("spec.parallelism", "object.spec.parallelism + 1"),
    ("spec.completions", "object.spec.completions * 2"),
    ("spec.backoffLimit", "pods"),
    ("spec.backoffLimit", "object.spec.backoffLimit + 1"),
    ("spec.ttlSecondsAfterFinished", "1.0 / 0.0"),
    ("spec.podReplacementPolicy", '"Failed"'),
    ("spec.template.metadata", '{"labels": {"x": "y"}}'),
    ('spec.template.metadata.labels["x"]', '"z"'),
    ("spec.template.metadata.labels", '{"tidegate.dev/queue": "other"}'),
    ("spec.template.spec.nodeSelector", '{"zone": name}'),
    ('spec.template.spec.nodeSelector["zone"]', "namespace"),
    ("spec.template.spec.containers[*].imagePullPolicy", '"Always"'),
    ('spec.template.spec.containers[*].resources.limits["cpu"]', "requests.cpu"),
    ('spec.template.spec.containers[*].resources.requests["cpu"]', '"3"'),
    ("spec.template.spec.tolerations[*].operator", '"Exists"'),
    ("spec.template.spec.priorityClassName", '"high"'),
)
FORBIDDEN = (
    ("apiVersion", '"v2"'),
    ("kind", '"Pod"'),
    ("spec.suspend", "false"),
    ("status.active", "0"),
    ("metadata.name", '"x"'),
    ("metadata.generateName", '"x"'),
    ("metadata.namespace", '"kube-system"'),
    ("metadata.uid", '"x"'),
    ("metadata.ownerReferences", "[]"),
    ("metadata.finalizers", "[]"),
    ("metadata.labels", "{}"),
    ("metadata.annotations", "{}"),
    *((f'metadata.annotations["{key}"]', '"x"') for key in OUR_MARKS),
    (f'metadata.labels["{Key.QUEUE}"]', '"open"'),
    (f'metadata["labels"]["{Key.QUEUE}"]', '"open"'),
    (f'spec.template.metadata.labels["{Key.QUEUE}"]', '"open"'),
    ('spec.template.metadata.annotations["tidegate.dev/hold"]', '"no"'),
)


def _set(number: int, kinds: str, condition: str, writes: list[tuple[str, str]]) -> str:
    body = "\n".join(f"  {path} = {value}" for path, value in writes)
    return f"set s{number} for {kinds}{condition} {{\n{body}\n}}"


def _policies(pool: tuple[tuple[str, str], ...]) -> st.SearchStrategy[str]:
    one = st.tuples(
        st.just("Job"),
        st.sampled_from(CONDITIONS),
        st.lists(st.sampled_from(pool), min_size=1, max_size=3, unique_by=lambda w: w[0]),
    )
    many = st.lists(one, min_size=1, max_size=4)
    return many.map(lambda sets: QUEUES + "\n".join(_set(i, *s) for i, s in enumerate(sets)))


@st.composite
def jobs(draw: st.DrawFn) -> dict[str, Any]:
    labels = draw(st.sampled_from((None, {}, {Key.QUEUE: "open"}, {"tier": "low"})))
    obj = job(namespace="team")
    if labels is not None:
        obj["metadata"]["labels"] = dict(labels)
    for path, values in (
        (("metadata", "annotations"), ({}, {"a/b~c": "1", "~1": "2"}, {Key.WANTED: "{}"})),
        (("spec", "backoffLimit"), (0, 3, 6)),
        (("spec", "parallelism"), (1, 2, 3)),
        (("spec", "completions"), (1, 2, 3)),
        (("spec", "template", "metadata"), ({}, {"labels": {}}, {"labels": {"x": "y"}})),
        (("spec", "template", "spec", "tolerations"), ([], [{"key": "a"}, {"key": "b"}])),
    ):
        if draw(st.booleans()):
            pen = Pen(obj)
            pen.write(path, draw(st.sampled_from(values)))
            obj = pen.object
    if draw(st.booleans()):
        obj["spec"].pop("suspend")
    return copy.deepcopy(obj)


@given(_policies(WRITES), jobs())
@example(
    QUEUES + _set(0, "Job", "", [WRITES[0]]) + "\n" + _set(1, "Job", CONDITIONS[6], [WRITES[6]]),
    job(namespace="team"),
)
def test_fed_back_its_own_output_is_at_rest(policy: str, obj: dict[str, Any]) -> None:
    here = judge(policy)
    stored, first, second = submit(obj, here)
    if not first.allowed:
        return
    assert second.allowed, [refusal.line for refusal in second.refusals]
    for later in (0.0, 1.0):
        assert mutate(request(stored), here, NOW + later).patch == ()
    assert validate(request(stored), here, NOW).allowed


@given(_policies(WRITES), jobs())
def test_who_it_is_and_what_decides_its_fate_is_as_without_sets(
    policy: str, obj: dict[str, Any]
) -> None:
    with_sets, first, _ = submit(obj, judge(policy))
    if not first.allowed:
        return
    without = submit(obj, PLAIN)[0]
    assert fate(with_sets) == fate(without)


def fate(obj: dict[str, Any]) -> Any:
    about = obj["metadata"]
    mine = {k: v for k, v in (about.get("annotations") or {}).items() if k in OUR_MARKS}
    mine.pop(Key.BEFORE_SETS, None)
    who = {k: about.get(k) for k in ("name", "namespace", "ownerReferences", "finalizers", "uid")}
    template = obj["spec"]["template"]["metadata"]["labels"].get(Key.QUEUE)
    queue = about["labels"][Key.QUEUE]
    return (obj["apiVersion"], obj["kind"], obj["spec"]["suspend"], who, mine, queue, template)


@pytest.mark.parametrize("write", FORBIDDEN, ids=[path for path, _ in FORBIDDEN])
def test_a_policy_whose_set_writes_what_is_not_its_own_is_refused(write: tuple[str, str]) -> None:
    with pytest.raises(PolicyErrors) as caught:
        judge(QUEUES + _set(0, "Job", "", [write]))
    assert {problem.code for problem in caught.value.problems} == {"TG510"}


# Notes that somebody made up


spots = st.sampled_from(
    (
        ("metadata", "labels", "tier"),
        ("metadata", "labels", Key.QUEUE),
        ("metadata", "annotations", "a/b~c"),
        ("metadata", "annotations"),
        ("spec", "parallelism"),
        ("spec", "completions"),
        ("spec", "backoffLimit"),
        ("spec", "suspend"),
        ("spec", "template", "metadata", "labels", "x"),
        ("spec", "template", "spec", "tolerations", 0, "operator"),
    )
)
befores = st.builds(
    lambda spot, made, was: {"at": list(spot)} | ({"made": made} if made else {"was": was}),
    spots,
    st.integers(0, 2),
    st.sampled_from(("open", "low", 1, 3, True, None, {})),
)


@given(_policies(WRITES), jobs(), st.lists(befores, min_size=1, max_size=3))
def test_a_forged_note_gives_no_more_than_an_object_that_could_have_been_sent(
    policy: str, obj: dict[str, Any], note: list[dict[str, Any]]
) -> None:
    here = judge(policy)
    forged = copy.deepcopy(obj)
    marks = (forged["metadata"].get("annotations") or {}) | {Key.BEFORE_SETS: json.dumps(note)}
    forged["metadata"]["annotations"] = marks
    made, first, _ = submit(forged, here)
    if not first.allowed:
        return
    changes = [Before(tuple(n["at"]), n.get("made", 0), n.get("was")) for n in note]
    claimed = copy.deepcopy(undone(unmarked(forged), changes))
    honest = [submit(each, here) for each in (obj, claimed)]
    assert any(allowed.allowed and same(bare(made), bare(each)) for each, allowed, _ in honest)


def bare(obj: dict[str, Any]) -> dict[str, Any]:
    """Empty maps apart, which nobody tells from none."""
    return json.loads(json.dumps(_full(obj)))


def _full(node: Any) -> Any:
    if isinstance(node, dict):
        parts = {key: _full(value) for key, value in node.items()}
        return {key: value for key, value in parts.items() if value not in ({}, None)}
    return [_full(item) for item in node] if isinstance(node, list) else node


# The pen


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab/~"), inner),
    max_leaves=8,
)
paths = st.lists(st.sampled_from(("a", "b", "/", "~", "~1")), min_size=1, max_size=4)


@given(st.dictionaries(st.sampled_from("ab/~"), values), st.lists(st.tuples(paths, values)))
def test_operations_make_what_was_written_and_undoing_it_makes_what_was(
    obj: dict[str, Any], writes: list[tuple[list[str], Any]]
) -> None:
    kept = copy.deepcopy(obj)
    pen = Pen(obj)
    for path, value in writes:
        pen.write(path, value)
    assert obj == kept
    assert same(apply_patch(obj, operations(obj, pen.object)), pen.object)
    assert same(_full(undone(pen.object, pen.changed)), _full(obj))
