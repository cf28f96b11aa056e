"""Each statement as it is read: the trees of everything that may stand in a file."""

from typing import Any

import pytest

from webhook.language.expression import Literal
from webhook.language.parse import parse
from webhook.language.syntax import (
    Accept,
    Api,
    Assignment,
    Bounded,
    By,
    Children,
    Cohort,
    Deadline,
    ExpectIgnored,
    ExpectPreempts,
    ExpectQueue,
    ExpectRefused,
    ExpectRule,
    ExpectSet,
    ExpectStarts,
    ExpectWaiting,
    FieldPath,
    GivenNamespace,
    GivenQueue,
    Groups,
    Hold,
    InKind,
    InNamespace,
    InTest,
    KindOf,
    Label,
    Labels,
    Limit,
    Measure,
    Mode,
    Number,
    OfPriority,
    On,
    Path,
    Pods,
    PodsFrom,
    PodsFromChild,
    Preempt,
    Prefer,
    Queue,
    QueueLabel,
    Set,
    Settings,
    Sharing,
    Source,
    State,
    Submit,
    SubmitFile,
    Test,
    Text,
    Uncovered,
    Warn,
    Weight,
    Word,
)

HERE = Source("x", "").span(0, 0)


def word(text: str) -> Word:
    return Word(text, HERE)


def number(text: str) -> Number:
    return Number(text, HERE)


def text(raw: str) -> Text:
    return Text(f'"{raw}"', HERE)


def path(written: str) -> Path:
    return Path(written, HERE)


def bounded(**amounts: int) -> tuple[Bounded, ...]:
    return tuple(Bounded(word(n), number(str(v)), HERE) for n, v in amounts.items())


def statements(written: str) -> tuple[Any, ...]:
    parsed = parse(written, path="x")
    assert parsed.problems == ()
    assert parsed.file.unread == ()
    return parsed.file.statements


LINES = {
    "weight 2": Weight(number("2"), HERE),
    "preempt lower-priority within queue": Preempt(word("lower-priority"), "within", None, HERE),
    "preempt any from borrowers": Preempt(word("any"), "from", None, HERE),
    "preempt lower-priority to borrow": Preempt(word("lower-priority"), "to", None, HERE),
    "preempt lower-priority to borrow below urgent": Preempt(
        word("lower-priority"), "to", word("urgent"), HERE
    ),
    "prefer borrowing over next-flavor over preempting": Prefer(
        (word("borrowing"), word("next-flavor"), word("preempting")), HERE
    ),
    "limit gpu 64 jobs 20 per user": Limit(bounded(gpu=64, jobs=20), word("user"), None, HERE),
    'limit waiting 5 per label "team"': Limit(bounded(waiting=5), None, text("team"), HERE),
    "uncovered refuse": Uncovered(word("refuse"), HERE),
    "hold": Hold("hold", None, HERE),
    'drain "new disks"': Hold("drain", text("new disks"), HERE),
    "ready within 1h30m": Deadline(number("1h30m"), None, HERE),
    "ready within 15m retries 3": Deadline(number("15m"), number("3"), HERE),
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_a_queue(line: str) -> None:
    (queue,) = statements(f"queue a {{\n  quota {{ cpu 1 }}\n  {line}  # why\n}}\n")
    assert isinstance(queue, Queue)
    assert queue.body[1] == LINES[line]


def test_accept_keeps_its_condition() -> None:
    (queue,) = statements("queue a {\n  accept when pods > 1 &&\n    pods < 5\n  hold\n}\n")
    accept, hold = queue.body
    assert isinstance(accept, Accept)
    assert (accept.condition.span.line, accept.condition.span.end_line) == (2, 3)
    assert hold == Hold("hold", None, HERE)


def test_a_cohort_shares_and_weighs() -> None:
    (cohort,) = statements("cohort a {\n  share by weight\n  cohort b {\n    weight 3\n  }\n}\n")
    inner = Cohort(word("b"), None, (Weight(number("3"), HERE),), HERE)
    assert cohort.body == (Sharing(word("weight"), HERE), inner)


def test_warn_is_written_as_deny_is() -> None:
    (warn,) = statements('warn big for Job, JobSet when true audit { message "x" }\n')
    assert warn == Warn(
        word("big"), (word("Job"), word("JobSet")), Literal("bool", True, HERE), True,
        text("x"), HERE,
    )  # fmt: skip


def test_set_writes_values_to_paths() -> None:
    one, two = statements(
        "set tidy for Job when true audit {\n"
        "  spec.ttl = 86400\n"
        '  metadata.labels["a/b"] = "c"\n'
        "  spec.list[*].x = 1\n"
        "}\n"
        "set always { spec.x = 5 }\n"
    )
    assert isinstance(one, Set)
    assert (one.kinds, one.audit) == ((word("Job"),), True)
    assert [a.path.text for a in one.assignments] == [
        "spec.ttl", 'metadata.labels["a/b"]', "spec.list[*].x",
    ]  # fmt: skip
    five = Assignment(path("spec.x"), Literal("int", 5, HERE), HERE)
    assert two == Set(word("always"), (), None, False, (five,), HERE)


def test_a_map_may_be_set() -> None:
    (one,) = statements('set a {\n  spec.m = {"a": 1,\n    "b": 2}\n  spec.n = 1\n}\n')
    assert [a.path.text for a in one.assignments] == ["spec.m", "spec.n"]


def test_settings() -> None:
    (settings,) = statements('settings {\n  mode audit\n  queue-label "a/b" "c"\n}\n')
    label = QueueLabel((text("a/b"), text("c")), HERE)
    assert settings == Settings((Mode(word("audit"), HERE), label), HERE)


KIND_LINES: dict[str, InKind] = {
    'api "ray.io/v1" plural "rayjobs"': Api(text("ray.io/v1"), None, text("rayjobs"), HERE),
    'api "a/v1" kind "Job" plural "jobs"': Api(text("a/v1"), text("Job"), text("jobs"), HERE),
    "suspend spec.suspend": FieldPath("suspend", path("spec.suspend"), HERE),
    "inject spec.template": FieldPath("inject", path("spec.template"), HERE),
    "priority-class spec.pc": FieldPath("priority-class", path("spec.pc"), HERE),
    "children Job, Pod": Children((word("Job"), word("Pod")), HERE),
    "pods head from spec.head.template": PodsFrom(
        word("head"), path("spec.head.template"), (), None, HERE
    ),
    "pods workers from spec.groups[*].template times replicas * 2": PodsFrom(
        word("workers"), path("spec.groups[*].template"), (word("replicas"), number("2")), None, HERE
    ),
    "pods driver requests { cpu cores, memory size }": PodsFrom(
        word("driver"), None, (),
        (
            Measure(word("cpu"), word("cores"), HERE),
            Measure(word("memory"), word("size"), HERE),
        ),
        HERE,
    ),
    "pods from child Job": PodsFromChild(word("Job"), HERE),
    "finished when true": State("finished", Literal("bool", True, HERE), HERE),
    "active when true": State("active", Literal("bool", True, HERE), HERE),
    "ready when true": State("ready", Literal("bool", True, HERE), HERE),
}  # fmt: skip


@pytest.mark.parametrize("line", KIND_LINES)
def test_a_line_of_a_kind(line: str) -> None:
    (kind,) = statements(f"kind RayJob {{\n  {line}\n}}\n")
    assert kind == KindOf(word("RayJob"), (KIND_LINES[line],), HERE)


TEST_LINES: dict[str, InTest] = {
    'given namespace "x" labels { team "a", "b/c" "d" }': GivenNamespace(
        text("x"),
        (Label(word("team"), text("a"), HERE), Label(text("b/c"), text("d"), HERE)),
        HERE,
    ),
    "given queue q running { gpu 8 }": GivenQueue(word("q"), True, bounded(gpu=8), (), HERE),
    'given queue q waiting { gpu 8 } priority p by "ana" on f': GivenQueue(
        word("q"), False, bounded(gpu=8),
        (OfPriority(word("p"), HERE), By(text("ana"), HERE), On(word("f"), HERE)),
        HERE,
    ),
    'submit Job in "ns" by "ana" groups "a", "b" labels { a "b" } requests { gpu 1 }': Submit(
        word("Job"),
        (
            InNamespace(text("ns"), HERE),
            By(text("ana"), HERE),
            Groups((text("a"), text("b")), HERE),
            Labels((Label(word("a"), text("b"), HERE),), HERE),
            Pods(None, bounded(gpu=1), HERE),
        ),
        HERE,
    ),
    "submit Job pods 4 each { gpu 1 } priority p": Submit(
        word("Job"),
        (Pods(number("4"), bounded(gpu=1), HERE), OfPriority(word("p"), HERE)),
        HERE,
    ),
    'submit file "a.yaml"': SubmitFile(text("a.yaml"), HERE),
    "expect queue q": ExpectQueue(word("q"), HERE),
    "expect denied": ExpectRule(False, None, None, HERE),
    'expect warned by r "x"': ExpectRule(True, word("r"), text("x"), HERE),
    'expect refused because limit "x"': ExpectRefused(word("limit"), text("x"), HERE),
    "expect starts": ExpectStarts(None, HERE),
    "expect starts on f": ExpectStarts(word("f"), HERE),
    "expect waiting because quota": ExpectWaiting(word("quota"), HERE),
    "expect preempts 3": ExpectPreempts(number("3"), HERE),
    'expect set spec.x = "a"': ExpectSet(path("spec.x"), Literal("string", "a", HERE), HERE),
    "expect ignored": ExpectIgnored(HERE),
}  # fmt: skip


@pytest.mark.parametrize("line", TEST_LINES)
def test_a_line_of_a_test(line: str) -> None:
    (test,) = statements(f'test "a" {{\n  {line}\n}}\n')
    assert test == Test(text("a"), (TEST_LINES[line],), HERE)


@pytest.mark.parametrize(
    "written",
    [
        "queue a {\n  qouta { cpu 1 }\n  limt gpu 5 per user\n  hold\n}\n",
        "set a {\n  spec.x 5\n  = 6\n  spec.y = 1\n}\n",
        "kind A {\n  apis\n  suspend\n  children Job\n}\n",
        'test "a" {\n  give queue a\n  submit\n  expect ignored\n}\n',
        "settings {\n  moed audit\n  mode\n}\n",
    ],
)
def test_two_mistakes_in_a_block_are_two_problems(written: str) -> None:
    parsed = parse(written, path="x")
    assert [p.span.line for p in parsed.problems] == [2, 3]
    assert len(parsed.file.statements) == 1
