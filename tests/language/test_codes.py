"""A code fires on a text and not on the same text put right; that each has a page is for test_rule_pages."""

import re
from pathlib import Path

import pytest

from tests.language.chunks import codes
from webhook.language.codes import CODES
from webhook.language.parse import LARGEST

Q = "queue q { quota { cpu 1 } }\n"
KIND = """\
  api "a/v1" plural "as"
  suspend spec.suspend
  pods all from spec.template
  finished when object.status.done
  active when object.status.on
}
"""
GPU = "resource gpu = nvidia.com/gpu\n"


def rule(condition: str, message: str = "no, {pods}") -> str:
    return f'deny d when {condition} {{\n  message "{message}"\n}}\n'


def inside(line: str, more: str = "") -> str:
    return f"queue q {{\n  quota {{ cpu 1 }}\n  {line}\n{more}}}\n"


def two_flavors(one: str, other: str) -> str:
    return (
        'flavor a { node "x" = "1" }\nflavor b { node "x" = "2" }\n'
        f"queue q {{\n  quota a {{ {one} 1Mi }}\n  quota b {{ {other} 1Mi }}\n}}\n"
    )


def two_alternatives(*lines: str) -> str:
    inner = "".join(f"  {line}\n" for line in lines)
    return f"flavor a {{ }}\nflavor b {{ }}\nqueue q {{\n  quota a {{ cpu 1, memory 1Gi }}\n{inner}}}\n"


def scene(*lines: str) -> str:
    inner = "".join(f"  {line}\n" for line in lines)
    return f'test "a" {{\n  submit Job in "x" requests {{ cpu 1 }}\n{inner}}}\n'


def tree(line: str, *lines: str) -> str:
    """A tree of two queues; ``line`` stands in its root, ``lines`` in the first queue."""
    inner = "".join(f"    {each}\n" for each in lines)
    return (
        f"cohort c {{\n  {line}\n  queue q {{\n    quota {{ cpu 1 }}\n{inner}  }}\n"
        "  queue p { quota { cpu 1 } }\n}\n"
    )


def lending(words: str, others: str = "", preempts: tuple[str, ...] = ()) -> str:
    """A tree of `p`, that lends, and `q`."""
    queues = {"p": words, "q": others}
    lines = dict.fromkeys(preempts, "preempt any from borrowers")
    return "".join((
        "cohort c {\n",
        *(f"  queue {n} {{\n  quota {{ cpu 1 {w} }}\n{lines.get(n, '')}\n}}\n" for n, w in queues.items()),
        "}\n",
    ))  # fmt: skip


FIRES: dict[str, tuple[str, str]] = {
    "TG001": ("# bell \x07\n" + Q, "# bell\n" + Q),
    "TG002": ("queue\u00a0q { quota { cpu 1 } }\n", Q),
    "TG003": (Q + "42\n", Q),
    "TG004": (Q + "rout to q\n", Q + "route to q\n"),
    "TG005": (Q + "route when pods > to q\n", Q + "route when pods > 1 to q\n"),
    "TG006": ("queue q { quota { cpu 1 }\n", Q),
    "TG007": (rule("pods > 1", "\\q"), rule("pods > 1", "\\\\q")),
    "TG008": ("queue q { quota { cpu 1 memory 1Gi } }\n", "queue q { quota { cpu 1, memory 1Gi } }\n"),
    "TG009": ("queue q\n{ quota { cpu 1 } }\n", Q),
    "TG010": ("queue q { quota { memory 64GB } }\n", "queue q { quota { memory 64G } }\n"),
    "TG011": ("queue q { quota { cpu -1 } }\n", Q),
    "TG012": ("queue q { quota { nvidia.com/gpu 500m } }\n", "queue q { quota { nvidia.com/gpu 1 } }\n"),
    "TG013": (inside("ready within 90"), inside("ready within 90s")),
    "TG014": ("queue q { quota { memory 64 } }\n", "queue q { quota { memory 64Gi } }\n"),
    "TG015": ("queue Vision { quota { cpu 1 } }\n", Q),
    "TG016": (Q + "route audit when pods > 1 to q audit audit\n", Q + "route when pods > 1 to q audit\n"),
    "TG017": ("#" * (LARGEST + 1), "#" * 100),
    "TG101": (Q + Q, Q),
    "TG102": ("queue q in c { quota { cpu 1 } }\n", "cohort c { }\nqueue q in c { quota { cpu 1 } }\n"),
    "TG103": ("queue q { quota spot { cpu 1 } }\n", "flavor spot { }\nqueue q { quota spot { cpu 1 } }\n"),
    "TG104": (Q + "route to p\n", Q + "route to q\n"),
    "TG105": ("cohort a in b { }\ncohort b in a { }\n", "cohort a in b { }\ncohort b { }\n"),
    "TG106": ("cohort a {\n  queue q in a { quota { cpu 1 } }\n}\n", "cohort a {\n  queue q { quota { cpu 1 } }\n}\n"),
    "TG107": (GPU + "resource card = nvidia.com/gpu\n", GPU),
    "TG108": ("queue q { quota { gpu 1 } }\n", GPU + "queue q { quota { gpu 1 } }\n"),
    "TG109": ("kind Job {\n" + KIND, "kind MyJob {\n" + KIND),
    "TG110": ("priority a 1 default\npriority b 2 default\n", "priority a 1 default\npriority b 2\n"),
    "TG111": ("settings { }\nsettings { }\n", "settings { }\n"),
    "TG201": ("route otherwise ignore\nroute otherwise ignore\n", "route otherwise ignore\n"),
    "TG202": (Q + 'route when namespace == "a" && namespace == "b" to q\n', Q + 'route when namespace == "a" to q\n'),
    "TG203": (Q + 'route to q\nroute when pods > 1 to q\n', Q + 'route when pods > 1 to q\nroute to q\n'),
    "TG206": (rule('kind == "Job" && kind == "JobSet"'), rule('kind == "Job"')),
    "TG207": (rule("true"), rule("pods > 1")),
    "TG505": (rule('labels["team"] == "a"'), rule('"team" in labels && labels["team"] == "a"')),
    "TG506": (Q + "route when pods >= 0 to q\n", Q + "route when pods >= 1 to q\n"),
    "TG209": (Q + "route for Cron to q\n", Q + "route for Job to q\n"),
    "TG210": (
        'settings { queue-label "tidegate.dev/queue" }\n',
        'settings { queue-label "kueue.x-k8s.io/queue-name" }\n',
    ),
    "TG301": ("queue q { }\n", Q),
    "TG302": ("queue q { quota { cpu 1, cpu 2 } }\n", Q),
    "TG303": (
        "queue q { quota { cpu 1 borrow 2 } }\n",
        "cohort c {\n  queue q { quota { cpu 1 borrow 2 } }\n  queue p { quota { cpu 1 } }\n}\n",
    ),
    "TG304": (lending("lend 2"), lending("lend 1")),
    "TG305": (
        "cohort c {\n  queue q { quota { cpu 1 borrow 2 } }\n  queue p { quota { cpu 1 lend none } }\n}\n",
        "cohort c {\n  queue q { quota { cpu 1 borrow 2 } }\n  queue p { quota { cpu 1 lend 1 } }\n}\n",
    ),
    "TG306": (
        "cohort c {\n  cap { cpu 2 }\n  queue q { quota { cpu 1 } }\n  queue p { quota { cpu 1 } }\n}\n",
        "cohort c {\n  cap { cpu 1 }\n  queue q { quota { cpu 1 } }\n  queue p { quota { cpu 1 } }\n}\n",
    ),
    "TG307": (
        "cohort c {\n  cap { cpu 2 }\n  queue q { quota { cpu 3 } }\n}\n",
        "cohort c {\n  cap { cpu 2 }\n  queue q { quota { cpu 2 } }\n  queue p { quota { cpu 1 } }\n}\n",
    ),
    "TG308": ("flavor spot { }\n" + Q, "flavor spot { }\nqueue q { quota spot { cpu 1 } }\n"),
    "TG309": (
        two_alternatives("quota b { cpu 2 }"),
        two_alternatives("quota b { cpu 2, memory 2Gi }"),
    ),
    "TG310": (two_flavors("cpu", "memory"), two_flavors("cpu", "cpu")),
    "TG311": (
        "queue q { quota { memory 8Ti } }\nqueue p { quota { memory 2000000 } }\n",
        "queue q { quota { memory 8Ti } }\nqueue p { quota { memory 2000000Mi } }\n",
    ),
    "TG312": ("queue q { quota { cpu 0 } }\n", Q),
    "TG313": (
        "cohort c {\n  pool { memory 1Gi }\n  queue q { quota { cpu 1 } }\n}\n",
        "cohort c {\n  pool { cpu 1 }\n  queue q { quota { cpu 1 } }\n}\n",
    ),
    "TG314": (
        'flavor f {\n  node "a" = "b"\n  node "a" = "c"\n}\nqueue q { quota f { cpu 1 } }\n',
        'flavor f {\n  node "a" = "b"\n  node "d" = "c"\n}\nqueue q { quota f { cpu 1 } }\n',
    ),
    "TG315": (lending("lend 1", "borrow none"), lending("lend 1", "borrow 1")),
    "TG401": (inside("limit cpu 1 per user"), inside("limit cpu 500m per user")),
    "TG402": (
        inside("limit cpu 100m per user") + rule("requests.cpu < quantity('500m')"),
        inside("limit cpu 500m per user") + rule("requests.cpu < quantity('500m')"),
    ),
    "TG403": (inside("limit cpu 500m cpu 200m per user"), inside("limit cpu 500m jobs 2 per user")),
    "TG404": (
        inside("preempt any from borrowers"),
        tree("", "preempt any from borrowers"),
    ),
    "TG405": (
        inside("preempt lower-priority within queue", "  preempt lower-or-newer within queue\n"),
        inside("preempt lower-or-newer within queue"),
    ),
    "TG406": (
        tree("", "preempt lower-priority to borrow"),
        tree("", "preempt lower-priority to borrow", "preempt any from borrowers"),
    ),
    "TG407": (tree("", "weight 2"), tree("share by weight", "weight 2")),
    "TG408": (
        "cohort r { }\ncohort c in r {\n  share by weight\n  queue q { quota { cpu 1 } }\n}\n",
        tree("share by weight"),
    ),
    "TG409": (
        inside("prefer next-flavor over borrowing over preempting"),
        inside("prefer preempting over borrowing over next-flavor"),
    ),
    "TG410": (inside("hold", "  drain\n"), inside('drain "new disks"')),
    "TG411": (
        "kind MyJob {\n" + KIND + inside("ready within 5m") + "route for MyJob to q\n",
        "kind MyJob {\n" + KIND + inside("ready within 5m") + "route for Job to q\n",
    ),
    "TG413": (
        lending("lend 1", preempts=("q",)),
        lending("lend 1", preempts=("q", "p")),
    ),
    "TG501": (rule("requests.memory > 64Gi"), rule("requests.memory > quantity('64Gi')")),
    "TG502": (rule("has(object.spec.paralelism)"), rule("has(object.metadata.labels)")),
    "TG503": (rule("pods"), rule("pods > 0")),
    "TG504": (rule("nam == 'a'"), rule("name == 'a'")),
    "TG507": (rule("requests.cpu > 1.5"), rule("requests.cpu > quantity('1.5')")),
    "TG508": (rule(" || ".join(["pods > 1"] * 900)), rule("pods > 1")),
    "TG510": (
        "set s for Job { spec.suspend = false }\n",
        "set s for Job { spec.parallelism = 1 }\n",
    ),
    "TG509": (rule("name.matches('a(b')"), rule("name.matches('a[(]b')")),
    "TG511": (rule("pods > 1", "more than {"), rule("pods > 1", "more than {pods}")),
    "TG601": (Q + scene("expect queue p"), Q + scene("expect queue q")),
    "TG602": (Q + 'test "a" { expect queue q }\n', Q + scene("expect queue q")),
    "TG603": (Q + scene("expect starts", "expect waiting"), Q + scene("expect starts", "expect queue q")),
    "TG607": (Q + scene("expect starts"), Q + scene("expect starts", "expect queue q")),
    "TG705": (rule("pods > 3", "too many"), rule("pods > 3", "at most three")),
    "TG703": ("# tidegate: ignore[TG308]\n" + Q, "# a comment\n" + Q),
    "TG704": (
        "# tidegate: ignore[TG308] bought in May\n" + Q,
        "# tidegate: ignore[TG308] bought in May\nflavor spot { }\n" + Q,
    ),
}  # fmt: skip


PLANNED = {0: 17, 1: 11, 2: 10, 3: 15, 4: 13, 5: 11, 6: 7, 7: 6}
"""How many codes the design of the language gives to each group, counted from 1; 315 and 413 came while building."""
STRUCK: dict[str, str] = {}
"""Codes of the design that are not built, each with the reason; their numbers are never given again."""


def test_every_code_of_the_design_is_built_or_struck_with_a_reason() -> None:
    planned = {f"TG{group}{n:02}" for group, many in PLANNED.items() for n in range(1, many + 1)}
    assert len(planned) == 90
    assert CODES.keys() | STRUCK.keys() == planned
    assert not CODES.keys() & STRUCK.keys()
    assert all(STRUCK.values())


def test_only_codes_that_exist_are_tried() -> None:
    assert FIRES.keys() <= CODES.keys()


@pytest.mark.parametrize("code", FIRES)
def test_a_code_fires_on_the_mistake_alone(code: str) -> None:
    bad, good = FIRES[code]
    assert set(codes(bad)) == {code}
    assert codes(good) == []


def test_every_code_in_the_sources_is_registered_and_every_summary_is_one_line() -> None:
    webhook = Path(__file__).parents[2] / "webhook"
    used = {
        code
        for folder in ("language", "rehearsal")
        for path in (webhook / folder).rglob("*.py")
        for code in re.findall(r'"(TG\d{3})"', path.read_text(encoding="utf-8"))
    }
    assert used == set(CODES)
    assert all(code.summary and "\n" not in code.summary for code in CODES.values())
