"""The lines of a queue beside its quotas: what is wrong with them, and what the core gets."""

from types import MappingProxyType

import pytest

from tests.language.chunks import expected, plain, problems, reported, split
from webhook.language.check import load_policy
from webhook.model.quantity import NANO
from webhook.model.queues import (
    Deadline,
    Halt,
    Limit,
    Preemption,
    Queue,
    Subject,
    Way,
    Whom,
)

# ruff: noqa: E501 - marks stand on the guilty line

CHUNKS = """
priority urgent 10
cohort c {
  share by weigth                        ### TG004 "`weigth` is no way to share"
  queue q {
    quota { cpu 1 }
    weight 0                             ### TG407 "cohort `c` shares by priority, a weight changes nothing" ### TG011 "`0` is out of range"
    preempt lower-priority within queue
    preempt any within queue             ### TG405 "queue `q` has two `preempt … within queue` lines"
    preempt all from borrowers           ### TG004 "`all` is not valid here"
    preempt any to borrow below urgnt    ### TG004 "`any` is not valid before `to borrow`" ### TG103 "no priority named `urgnt`"
    prefer borrowing over next-flavour over preempting   ### TG004 "there is no way `next-flavour`"
    limit cpu 1 jobs 0 per user          ### TG011 "`jobs 0` lets nobody run"
    limit cpus 1 per usr                 ### TG108 "no resource named `cpus`" ### TG004 "there is no subject `usr`"
    limit memory 5GB jobs 1.5 per label "team"   ### TG010 "there is no unit `GB`" ### TG011 "`1.5` is not a whole number"
    uncovered deny                       ### TG004 "`uncovered` is `refuse` or `ignore`"
    uncovered ignore                     ### TG101 "queue `q` has two `uncovered` lines"
    hold
    hold "again"                         ### TG101 "queue `q` has `hold` and `hold`"
    ready within 15min retries -1        ### TG010 "there is no unit `min`" ### TG011 "`-1` is out of range"
  }
}
---
queue q {
  quota { cpu 1 }
  weight 2                               ### TG407 "`q` stands in no cohort, there is nobody to weigh it against"
  prefer borrowing over preempting       ### TG005 "`prefer` names all three ways"
  ready within 0s                        ### TG011 "`0s` is out of range"
}
queue p {
  quota { cpu 1 }
  prefer borrowing over borrowing over preempting    ### TG004 "`borrowing` stands twice"
  ready within 1m1h                      ### TG013 "`1m1h` is not a duration"
  preempt lower-priority to borrow       ### TG406 "`preempt … to borrow` needs a `preempt … from borrowers` line beside it"
  limit cpu 1 per user
  limit cpu 2 per user                   ### TG403 "`cpu` per user is limited twice"
  limit cpu 2 per namespace
}
---
cohort c {
  share by weight
  share by weight                        ### TG101 "cohort `c` has two `share` lines"
  cohort d {
    share by weight                      ### TG408 "`share` stands in a cohort that is in no other"
    weight 2
    queue q {
      quota { cpu 1 }
      weight 2
      weight 3                           ### TG101 "queue `q` has two `weight` lines"
      preempt any from borrowers
      preempt lower-priority to borrow   ### TG406 "`preempt … to borrow` has no place in a tree that shares by weight"
    }
  }
}
---
cohort a in b { }                        ### TG105 "cohorts form a cycle: `a` in `b` in `a`"
cohort b in a {
  weight 2
  share by weight                        ### TG408 "`share` stands in a cohort that is in no other"
}
queue q in nobody {                      ### TG102 "no cohort named `nobody`"
  quota { cpu 1 }
  weight 2
}
"""


@pytest.mark.parametrize("chunk", split(CHUNKS))
def test_each_mistake_is_reported_once_at_its_line(chunk: str) -> None:
    assert reported(plain(chunk)) == expected(chunk)


TEXT = """\
priority urgent 10
cohort c {
  queue q {
    quota { cpu 1 }
    preempt lower-or-newer within queue
    preempt any from borrowers
    preempt lower-priority to borrow below urgent
    prefer borrowing over next-flavor over preempting
    limit cpu 2 jobs 20 per user
    limit waiting 5 per label "team"
    uncovered refuse
    drain "new disks"
    ready within 1h30m retries 3
  }
}
"""


def queue(text: str = TEXT) -> Queue:
    return load_policy([("p.tide", text)]).quotas.queues["q"]


def test_the_core_gets_plain_values() -> None:
    assert queue().preempts == Preemption(Whom.LOWER_OR_NEWER, Whom.ANY, to_borrow=True, below=10)
    assert queue().prefer == (Way.BORROWING, Way.NEXT_FLAVOR, Way.PREEMPTING)
    cpu = MappingProxyType({"cpu": 2 * NANO})
    assert queue().limits == (
        Limit(Subject.USER, None, cpu, 20, None, "p.tide:9"),
        Limit(Subject.LABEL, "team", MappingProxyType({}), None, 5, "p.tide:10"),
    )
    assert queue().refuse_uncovered is True
    assert queue().halt == Halt(drains=True, reason="new disks")
    assert queue().deadline == Deadline(5400, 3)


def test_without_lines_the_defaults_hold() -> None:
    plain_queue = queue("queue q { quota { cpu 1 } }\n")
    assert plain_queue.preempts == Preemption()
    assert plain_queue.prefer == (Way.NEXT_FLAVOR, Way.BORROWING, Way.PREEMPTING)
    assert (plain_queue.limits, plain_queue.halt, plain_queue.deadline) == ((), None, None)
    assert plain_queue.refuse_uncovered is None


def test_weights_reach_the_core() -> None:
    text = "cohort c {\n  share by weight\n  queue q {\n    quota { cpu 1 }\n    weight 2\n  }\n}\n"
    quotas = load_policy([("p.tide", text)]).quotas
    assert (quotas.cohorts["c"].by_weight, quotas.cohorts["c"].weight) == (True, 1)
    assert quotas.queues["q"].weight == 2


@pytest.mark.parametrize(
    ("written", "help_"),
    [
        ("ready within 90", "write `90s`, `90m` or `90h`"),
        ("ready within 15min", "write `15m`"),
        ("prefer borrowing", "add `over next-flavor over preempting`"),
        ("limit jobs 0 per user", "write `hold` to start nothing"),
        ("preempt lower within queue", "did you mean `lower-priority`?"),
        ("limit jobs 5 per users", "did you mean `user`?"),
        ("order fifo", "did you mean `strict`?"),
    ],
)
def test_the_help_names_the_fix(written: str, help_: str) -> None:
    found = problems(f"queue q {{\n  quota {{ cpu 1 }}\n  {written}\n}}\n")
    assert [p.help for p in found] == [help_]
