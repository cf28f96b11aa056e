"""Policies that want to keep a machine busy end at a bound, and say at which: no time here, the timeout is enough."""

import pytest

from tests.language.chunks import codes, problems
from webhook.language.check import MOST_TOGETHER, lint
from webhook.language.parse import LARGEST

QUEUES = "queue q { quota { cpu 1 } }\nqueue p { quota { cpu 1 } }\n"


def lines(line: str, count: int) -> str:
    return "".join(line.replace("@", str(number)) for number in range(count))


def test_all_files_together_have_a_bound() -> None:
    text = "#" * (LARGEST - 1) + "\n"
    many = [(f"{number:02}.tide", text) for number in range(19)]
    (found,) = lint(many, form=True)[1]
    assert (found.code, found.span.path) == ("TG017", "16.tide")
    assert str(MOST_TOGETHER) in found.message
    assert lint(many[:16])[1] == ()


def test_a_file_that_is_too_large_keeps_no_other_from_being_read() -> None:
    _, found = lint([("a.tide", "#" * MOST_TOGETHER), ("b.tide", "rout to q\n")])
    assert [(p.code, p.span.path) for p in found] == [("TG017", "a.tide"), ("TG004", "b.tide")]


def test_cohorts_have_a_bound_whichever_comes_first() -> None:
    chain = [
        f"cohort c{number} {f'in c{number - 1} ' if number else ''}{{ }}\n"
        for number in range(5_000)
    ]
    for text in ("".join(chain), "".join(reversed(chain))):
        (found,) = problems(text)
        assert (found.code, found.message) == (
            "TG017",
            "cohorts stand at most 32 deep in each other",
        )
        assert text[found.span.start : found.span.end] == "c32"
    assert codes("".join(chain[:32])) == []


@pytest.mark.parametrize(
    ("text", "code", "count"),
    [
        (QUEUES + lines('route when namespace.contains("n@x") to q\n', 5_000), "", 0),
        (lines("set s@ for Job { spec.parallelism = @ }\n", 5_000), "TG208", 4_999),
        (lines('set s@ { metadata.labels["a@"] = "b" }\n', 5_000), "", 0),
        (
            lines("queue q@ { quota { cpu 4 } }\n", 3_000)
            + lines('deny d@ when requests.cpu > 1@ { message "{pods}" }\n', 2_000),
            "",
            0,
        ),
        (
            lines('flavor f@ { node "x" = "@" }\n', 2_000)
            + "queue q {\n"
            + lines("quota f@ { a.b/c@ 1 }\n", 2_000)
            + "}\n",
            "TG310",
            1_999,
        ),
        (
            lines("flavor f@ { }\n", 2_000)
            + "queue q {\n"
            + lines("quota f@ { cpu 1 }\n", 1_999)
            + "quota f1999 { cpu 1, memory 1Gi }\n}\n",
            "TG309",
            1_999,
        ),
    ],
    ids=["routes", "sets of one path", "sets", "denies and queues", "flavors", "alternatives"],
)
def test_what_is_compared_with_all_others_is_compared_with_a_bounded_number(
    text: str, code: str, count: int
) -> None:
    found = codes(text)
    assert (set(found), len(found)) == ({code} if code else set(), count)


def test_routes_of_many_files_to_one_queue_are_not_compared() -> None:
    files = [
        (f"{at}.tide", lines(f'route when namespace == "n{at}-@" to q\n', 1_500)) for at in range(4)
    ]
    assert lint([("q.tide", QUEUES), *files])[1] == ()
