"""The one form of a policy file: what it looks like, that nothing is lost on the way, and that it stays."""

import dataclasses
import re
import types
import typing
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.policies import POLICIES, SEEDS, draw_tokens, grammar, policy, write
from webhook.language import expression, syntax
from webhook.language import format as formatter
from webhook.language.format import NotProven, format_text
from webhook.language.format.canonical import CLAUSES, canonical_tree
from webhook.language.format.columns import write_lines
from webhook.language.parse import parse

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "policies").rglob("*.tide"))


def formatted(text: str) -> str:
    done = format_text(text, path="x.tide")
    assert done.problems == (), text
    return done.text


FORM = """\
# The first line.

resource gpu = nvidia.com/gpu  # a short name

flavor a100 {
  node     "cloud.google.com/gke-accelerator" = "nvidia-tesla-a100"
  tolerate "nvidia.com/gpu" = "present" : NoSchedule
}
flavor spot { node "cloud.google.com/gke-spot" = "true" }
flavor other {}

priority urgent    1000
priority normal     100 default
priority scavenger    0

cohort research {
  share by weight  # who borrows less comes first
  pool spot { cpu 2000 }
  cap  a100 { gpu 80 }  # 96 are promised, 80 exist

  queue vision {
    # Of its own.
    quota a100 {
      gpu    64 borrow 16  # own 64
      cpu    1k            # no word: borrow any, lend any
      memory 8Ti borrow none
      # nothing more
    }
    quota spot { cpu 500, memory 1Ti lend none }
    weight  2
    order   first-fit
    prefer  next-flavor over borrowing over preempting
    preempt lower-priority to borrow below normal
    limit   gpu 64 jobs 20 per user
    accept  when namespaceObject.metadata.labels["team"] == "vision"
    hold
    ready   within 1h30m retries 3
  }
}

route vision for Job, JobSet when namespace.startsWith("vision-") to vision
route web for Job
  when namespace in ["web-prod", "web-test"] &&
    # batch work only
    (requests.cpu > 1 ||
      pods == -1)  # or one
  to web
route when namespace in [
  "a",
  "b"  # the last
] && !has(object.spec.x) && {"a": 1, "b": x ? 1 : -2}["a"] > 0 to web audit
route otherwise ignore

deny too-big for Job, JobSet when requests.gpu > 64 audit {
  message "one workload may ask for at most 64 GPUs, this one asks for {requests.gpu}"
}

set tidy for Job when !has(object.spec.ttlSecondsAfterFinished) {
  spec.ttlSecondsAfterFinished = 86400
  metadata.labels["a/b"] = labels["c"]
}

kind RayJob {
  api            "ray.io/v1" plural "rayjobs"
  suspend        spec.suspend
  pods           head from spec.rayClusterSpec.headGroupSpec.template
  pods           workers from spec.workers[*].template times replicas * 2
  priority-class spec.priorityClassName
  children       Job, Pod
  finished       when object.status.done
}

settings {
  mode        audit
  queue-label "kueue.x-k8s.io/queue-name" "x"
}

test "speech never borrows" {
  given  queue speech running { gpu 32 } on a100 by "ana" priority urgent
  submit Job in "speech-prod" groups "a", "b" labels { team "speech" } requests { gpu 1 }
  expect queue speech
  expect waiting because quota
}
# The last line.
"""

SAME = [
    ("queue  a{quota{cpu 1,memory 2Gi,}}\n\n\n", "queue a { quota { cpu 1, memory 2Gi } }\n"),
    ("\n\n# x  \n\n\n\nroute to a", "# x\n\nroute to a\n"),
    ("queue a {\n\n\n  order strict\n\n}\n", "queue a {\n  order strict\n}\n"),
    ("queue a {\n}\n", "queue a {}\n"),
    ("queue a { # why\n}\n", "queue a {  # why\n}\n"),
    ("queue a {\n# why\n}\n", "queue a {\n  # why\n}\n"),
    ("queue a {\n order strict} # end\n# on\n", "queue a {\n  order strict\n}  # end\n# on\n"),
    ("queue a { quota {\n cpu 1 } }\n", "queue a {\n  quota {\n    cpu 1\n  }\n}\n"),
    (
        "queue a { quota {\n cpu 1, # one\n memory 2 borrow 0 lend 0m # two\n } }\n",
        """\
queue a {
  quota {
    cpu    1                        # one
    memory 2 borrow none lend none  # two
  }
}
""",
    ),
    (
        "route x when a\n  && b # why\n\n  # this\n  || c to q\n",
        "route x when a &&\n    b ||  # why\n    # this\n    c to q\n",
    ),
    ("route x for Job,\n  JobSet\n  to q\n", "route x for Job, JobSet\n  to q\n"),
    ("route x when(a==b)to q\n", "route x when (a == b) to q\n"),
    ("route x when a[ 'b' ] . c ( d,[e , ] ) -1 to q", "route x when a['b'].c(d, [e]) - 1 to q\n"),
    ("route x when - a*-1>!b ? [ ]:{ } to q", "route x when -a * -1 > !b ? [] : {} to q\n"),
    ("route x when 'a  b' == \"\"\"a\n  b\"\"\" to q", "route x when 'a  b' == \"\"\"a\n  b\"\"\" to q\n"),
    (
        'set x {\n spec.a = {\n"a":1,"b":[\n1,2]\n}\n}\n',
        'set x {\n  spec.a = {\n    "a": 1, "b": [\n      1, 2\n    ]\n  }\n}\n',
    ),
    ("flavor a {node 'a'}", None),
    ("priority a 1\npriority bbb 10\n\npriority c 5", "priority a    1\npriority bbb 10\n\npriority c 5\n"),
]  # fmt: skip


def test_the_form_stays_as_it_is() -> None:
    assert formatted(FORM) == FORM


@pytest.mark.parametrize(("text", "form"), SAME)
def test_what_becomes_of_a_text(text: str, form: str | None) -> None:
    done = format_text(text, path="x.tide")
    assert done.text == (text if form is None else form)
    assert bool(done.problems) == (form is None)


def test_clauses_have_one_order() -> None:
    text = 'test "x" {\nsubmit Job requests{gpu 1}labels{a "b"}groups "g","h" by "ana"in "n"\n}\n'
    line = 'submit Job in "n" by "ana" groups "g", "h" labels { a "b" } requests { gpu 1 }'
    assert formatted(text) == f'test "x" {{\n  {line}\n}}\n'


def test_a_block_that_does_not_fit_gets_lines() -> None:
    entries = [f"example.com/resource-{n} {n}" for n in range(5)]
    text = "queue a { quota { " + ", ".join(entries) + " } }\n"
    lines = "".join(f"    {entry}\n" for entry in entries)
    assert formatted(text) == f"queue a {{\n  quota {{\n{lines}  }}\n}}\n"


def test_line_ends_and_the_byte_order_mark_stay() -> None:
    text = "\ufeffqueue a {\r\n order strict # x \r\n\n}\r\n"
    assert formatted(text) == "\ufeffqueue a {\r\n  order strict  # x\r\n}\r\n"
    assert formatted("") == ""
    assert formatted("# only\r\n\r\n\r\n# this") == "# only\r\n\r\n# this\r\n"


def test_a_file_with_a_mistake_stays_as_it_is() -> None:
    done = format_text("queue  a { qota { cpu 1 } }\nroute  to a\n", path="x.tide")
    assert done.text.startswith("queue  a")
    assert [p.code for p in done.problems] == ["TG004"]


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        (" && ".join(["a == b"] * 1000), "TG508"),  # too long before
        ("&&".join(["a==b"] * 1300), "TG508"),  # and too long only in its form
        ("!" * 101 + "a", "TG508"),
    ],
)
def test_what_is_beyond_the_bounds_of_a_condition_is_not_formatted(
    condition: str, code: str
) -> None:
    text = f"queue  a {{}}\nroute x when {condition} to a\n"
    done = format_text(text, path="x.tide")
    assert (done.text, [p.code for p in done.problems]) == (text, [code])


def test_what_is_deep_within_the_bounds_is_formatted() -> None:
    text = "cohort a { " * 30 + "queue b {quota{cpu 1}}" + "}" * 30
    assert formatted(text + "\n# x\n").count("\n") > 50
    assert formatted("route x when " + "(" * 90 + "a" + ")" * 90 + "  to q")
    assert formatted("route x when a in [" + "1,\n" * 500 + "1] to q").count("\n") == 501


BREAKS = {
    "say something else": lambda lines, newline: "queue b {}\n",
    "have a mistake": lambda lines, newline: "queue b {\n",
    "other comments": lambda lines, newline: "queue a {}\n",
    "change when": lambda lines, newline: "queue  a {} # x\n",
}


@pytest.mark.parametrize("why", BREAKS)
def test_a_wrong_output_is_not_given_out(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = write_lines
    outputs = iter([BREAKS[why]])
    monkeypatch.setattr(formatter, "write_lines", lambda *a: next(outputs, right)(*a))  # noqa: PLW0108 - asked each time
    with pytest.raises(NotProven, match=why):
        format_text("queue a   {} # x\n", path="x.tide")


@pytest.mark.parametrize("path", FILES, ids=str)
def test_our_own_policies_are_in_form(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert formatted(text) == text


def words(text: str) -> Counter[str]:
    """Everything that is said, without line ends and commas."""
    tokens: list = []
    assert parse(text, path="x", tokens=tokens).problems == ()
    said = [str(t) for t in tokens if t.type not in ("_NL", "_COMMA", "C_COMMA")]
    zero = [("none" if a in ("borrow", "lend") and b == "0" else b) for a, b in pairs(said)]
    return Counter(zero)


def pairs(said: list[str]) -> Iterator[tuple[str, str]]:
    return zip(["", *said], said, strict=False)


@given(POLICIES)
@settings(deadline=None, max_examples=60)
def test_nothing_is_lost_and_the_form_stays(text: str) -> None:
    form = formatted(text)
    before, after = parse(text, path="x").file, parse(form, path="x").file
    assert canonical_tree(before.statements) == canonical_tree(after.statements)
    assert words(text) == words(form)
    assert sorted(c.text.rstrip() for c in before.comments) == sorted(
        c.text for c in after.comments
    )
    assert formatted(form) == form
    assert not re.search(r"[ \t]\n|\n\n\n|^\n|\n\n$", strip_texts(form))


def strip_texts(text: str) -> str:
    return text.replace('"""three\nlines # no"""', '""')


@given(SEEDS, SEEDS, SEEDS, st.sampled_from(["\n", "\r\n"]))
@settings(deadline=None, max_examples=60)
def test_spaces_and_line_ends_make_no_difference(said: int, one: int, other: int, end: str) -> None:
    tokens = [(kind, text.replace("\n", " ")) for kind, text in draw_tokens(Random(said))]
    left = write(tokens, Random(said), Random(one))
    right = write(tokens, Random(said), Random(other), end=end)
    assert formatted(left) == formatted(right).replace("\r\n", "\n")


def anchors(text: str) -> list[str]:
    """What is said and the comments, in one order; without signs that may change sides with a comment."""
    tokens: list = []
    file = parse(text, path="x", tokens=tokens).file
    hanging = ("_NL", "_COMMA", "C_COMMA", "C_AND", "C_OR")
    said = [(t.start_pos, str(t)) for t in tokens if t.type not in hanging]
    said += [(c.span.start, c.text.rstrip()) for c in file.comments]
    return ["" if word in ("0", "none") else word for _, word in sorted(said)]


def alone(text: str) -> Counter[str]:
    """The comments on lines of their own."""
    file = parse(text, path="x").file
    before = [(c, file.source.line(c.span.line)[: c.span.column - 1]) for c in file.comments]
    return Counter(c.text.rstrip() for c, left in before if not left.strip())


@given(POLICIES)
@settings(deadline=None, max_examples=60)
def test_comments_stand_where_they_stood(text: str) -> None:
    form = formatted(text)
    assert alone(text) <= alone(form)
    if not re.search(r"\b(given|submit)\b", text):
        assert anchors(form) == anchors(text)


def node_classes() -> set[type]:
    """Every class that the tree of a file may hold, from `Statement` on."""
    found: set[type] = set()
    waiting: list[typing.Any] = [syntax.Statement]
    while waiting:
        hint = waiting.pop()
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            if hint not in found and hint.__module__.startswith("webhook.language.syntax"):
                found.add(hint)
                waiting += typing.get_type_hints(hint, localns=NAMESPACE).values()
        elif isinstance(hint, types.GenericAlias | types.UnionType) or typing.get_args(hint):
            waiting += typing.get_args(hint)
    return found


NAMESPACE = {"Expression": expression.Expression}


def classes_in(node: typing.Any) -> Iterator[type]:
    if isinstance(node, tuple):
        for part in node:
            yield from classes_in(part)
    elif dataclasses.is_dataclass(node):
        yield type(node)
        for field in dataclasses.fields(node):
            yield from classes_in(getattr(node, field.name))


def test_every_node_of_the_syntax_is_formatted_here() -> None:
    seen: set[type] = set(classes_in(parse(FORM, path="x").file.statements))
    for seed in range(400):
        if node_classes() <= seen:
            break
        seen |= set(classes_in(parse(formatted(policy(seed)), path="x").file.statements))
    assert {c.__name__ for c in node_classes() - seen} == set()


def test_the_words_that_order_clauses_exist() -> None:
    terminals = grammar().terminals
    assert [
        w for head, clauses in CLAUSES.items() for w in (head, *clauses) if w not in terminals
    ] == []
