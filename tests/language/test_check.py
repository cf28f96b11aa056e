"""What is checked across statements and files: names, trees, amounts, rules."""

import pytest

from tests.language.chunks import expected, plain, problems, reported, split
from webhook.language.check import lint, load_policy, revision
from webhook.language.problems import PolicyErrors

CHUNKS = """
resource gpu = nvidia.com/gpu
resource card = nvidia.com/gpu         ### TG107 "`nvidia.com/gpu` is already named `gpu`"
resource cpu = example.com/cpu         ### TG107 "`cpu` is a resource of Kubernetes, an alias would hide it"
resource x = gpus                      ### TG108 "`gpus` is not a resource"
resource big-gpu = example.com/gpu     ### TG015 "`big-gpu` is not an alias"
queue q {
  quota {
    gpu 500m                           ### TG012 "`500m` is a fraction, and `nvidia.com/gpu` comes in whole pieces"
    cpu 0.0001                         ### TG012 "`0.0001` is finer than a thousandth of a core"
    memory 64GB                        ### TG010 "there is no unit `GB`"
    gpus 5                             ### TG108 "no resource named `gpus`"
    x 5
    ephemeral-storage 1K               ### TG010 "there is no unit `K`"
    hugepages-2Mi -5                   ### TG011 "`-5` is negative"
  }
}
---
flavor default { }                     ### TG015 "the flavor `default` always exists and cannot be declared"
flavor spot {
  tolerate "a" : NoSchedul             ### TG004 "`NoSchedul` is not an effect of a taint"
  tolerate "a" = "b"
  tolerate "a"                         ### TG314 "the `tolerate` key `a` stands twice"
  node "a b" = "c"                     ### TG015 "`a b` is not the key of a label"
  node "d" = "-"                       ### TG015 "`-` is not the value of a label"
}
priority p 99999999999                 ### TG011 "`99999999999` is out of range"
priority r 1.5                         ### TG011 "`1.5` is not a whole number"
priority s -2147483648 default
priority t 1 default                   ### TG110 "two priorities are the default"
priority any 5                         ### TG015 "`any` is a word of the language, not a name"
queue q {
  quota spot { cpu 1 }
  quota sopt { cpu 1 }                 ### TG103 "no flavor named `sopt`"
  quota spot { cpu 2 }                 ### TG302 "queue `q` has two `quota` blocks for `spot`"
  quota default { cpu 2 }
  quota { cpu 2 }                      ### TG302 "queue `q` has two `quota` blocks for `default`"
  order strikt                         ### TG004 "there is no order `strikt`"
  order strict                         ### TG101 "queue `q` has two `order` lines"
}
---
cohort a in b { }                      ### TG105 "cohorts form a cycle: `a` in `b` in `c` in `a`"
cohort b in c { }
cohort c in a { }
cohort d in d { }                      ### TG105 "cohort `d` stands in itself"
cohort e {
  queue q in e { quota { cpu 1 } }     ### TG106 "`q` already stands in the block of cohort `e`"
  pool { cpu 1 borrow 2 }              ### TG303 "cohort `e` stands in no cohort, there is nobody to borrow from"
  cohort f {
    pool { cpu 1 borrow 2 }
  }
}
queue r in q {                         ### TG102 "no cohort named `q`"
  quota { cpu 1 lend 1 }
}
queue e { quota { cpu 1 lend none } }  ### TG101 "`e` is declared as a queue and as a cohort"
queue s { quota { cpu 1 lend none } }  ### TG303 "queue `s` stands in no cohort, there is nobody to lend to"
queue t { quota { cpu 1, cpu 2 } }     ### TG302 "`cpu` stands twice in this `quota`"
cohort g {
  cap { cpu 1 }
  cap { cpu 1 }                        ### TG302 "cohort `g` has two `cap` blocks for `default`"
  queue u { quota { cpu 2 borrow all } }   ### TG004 "`all` is not valid here"
}
---
cohort c { queue q { quota { cpu 1 } } }
route r for Job, Deployment to q       ### TG209 "`Deployment` is not a kind this version knows"
route r when queue == "q" to q  ### TG101 "a rule named `r` is declared twice" ### TG504 "`queue` is not known here"
route to c                             ### TG104 "no queue named `c`"
route otherwise deny "no {nam}"        ### TG504 "no variable named `nam`"
route otherwise to qq                  ### TG104 "no queue named `qq`" ### TG201 "there are two `route otherwise`"
deny r when true {                     ### TG101 "a rule named `r` is declared twice"
  message "a {pods + } b"              ### TG511 "in a message: a value is missing behind `+`"
}
deny s when true { message "{object}" }   ### TG511 "a message shows numbers, texts and amounts, this is an object"
deny t when true { message "{labels[\\"a\\"]} {{ }} {pods}" }
deny u when true { message "}" }       ### TG511 "`}` has no partner in this message"
deny v when true { message "{}" }      ### TG511 "an expression is missing between the braces"
"""


@pytest.mark.parametrize("chunk", split(CHUNKS))
def test_each_mistake_is_reported_once_at_its_line(chunk: str) -> None:
    assert reported(plain(chunk)) == expected(chunk)


def test_a_name_that_nobody_declares_is_one_problem_at_its_first_use() -> None:
    (found,) = problems(
        "route a when pods > 1 to vison\nroute b to vison\nqueue vision { quota { cpu 1 } }\n"
    )
    assert (found.span.line, found.span.column) == (1, 26)
    assert found.help == "did you mean `vision`?"
    assert [(span.line, label) for span, label in found.others] == [
        (2, "and used here"),
        (3, "declared here"),
    ]


def test_a_statement_with_a_mistake_still_declares_its_name() -> None:
    text = (
        "resource gpu nvidia.com/gpu\nflavor f { node }\npriority p\n"
        "queue q { quota { gpu 1 } } }{\ncohort c { pool { cpu } \n"
        "queue r in c { quota f { gpu 1 } }\nroute to q\n"
        'deny d when requests.gpu > 1 { message "" }\n'
    )
    assert [(p.span.line, p.code) for p in problems(text) if p.code[2] != "0"] == []


@pytest.mark.parametrize(
    ("written", "help_"),
    [
        ("64GB", "write `64G` or `64Gi`"),
        ("1K", "write `1k` or `1Ki`"),
        ("8Tb", "write `8T` or `8Ti`"),
        ("8gib", "write `8Gi`"),
        ("5bytes", "write `5`"),
        ("5zz", "units are `m`, `k`, `M`, `G`, `T`, `Ki`, `Mi`, `Gi`, `Ti` and so on"),
    ],
)
def test_a_unit_that_does_not_exist_comes_with_the_one_that_was_meant(
    written: str, help_: str
) -> None:
    (found,) = [
        p for p in problems(f"queue q {{ quota {{ memory {written} }} }}\n") if p.code == "TG010"
    ]
    assert found.help == help_


def test_names_are_known_across_files_and_problems_come_in_the_order_of_the_files() -> None:
    texts = [("b.tide", "route to q\nroute to p\n"), ("a.tide", "queue q { quota { cpu 1x } }\n")]
    _, found = lint(texts)
    assert [(p.span.path, p.code) for p in found] == [("b.tide", "TG104"), ("a.tide", "TG010")]


def test_a_policy_with_errors_is_not_loaded_and_one_with_warnings_is() -> None:
    with pytest.raises(PolicyErrors, match=r"x\.tide:1: no queue named `q`") as caught:
        load_policy([("x.tide", "route to q\n")])
    assert [p.code for p in caught.value.problems] == ["TG104"]
    assert "spot" in load_policy([("x.tide", "flavor spot { }\n")]).quotas.flavors


def test_the_revision_names_the_text_and_not_its_files() -> None:
    assert revision(["a", "b"]) == revision(["b", "a"]) != revision(["ab"])
    assert load_policy([("x", "route otherwise ignore\n")]).revision == revision(
        ["route otherwise ignore\n"]
    )
