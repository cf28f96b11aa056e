"""Every mistake of a text in one run, each once, at its place."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.chunks import codes, expected, plain, problems, reported, split
from webhook.language.check import lint
from webhook.language.parse import LARGEST, parse
from webhook.language.scan import MOST
from webhook.language.syntax import Cohort, Queue

CHUNKS = """
resource gpu nvidia.com/gpu              ### TG005 "`=` is missing before `nvidia.com/gpu`"
qeue z { quota { cpu 5 } }               ### TG004 "`qeue` is no statement"
queue a { quota { gpu 5 borow 3 } }      ### TG004 "`borow` is not valid here"
queue 1k { quota { cpu 5 } }             ### TG015 "`1k` is not a name"
queue c {
  quota { cpu 5 memory 3Gi }             ### TG008 "a comma or a new line is missing before `memory`"
  weigth 5                               ### TG004 "`weigth` is no statement"
  order strict order first-fit           ### TG008 "a new line is missing before `order`"
  pool { cpu 5 }                         ### TG004 "`pool` is not valid here"
}
cohort d {
  queue e {
    quota { cpu 5 lend 3 borrow 2 }      ### TG004 "`borrow` stands before `lend`, once"
  }
}
---
queue b
{                                        ### TG009 "`{` stands on the line of its head"
  quota { cpu 5 }
}
queue c { quota { cpu 1 } }
route x when namespace == to c           ### TG005 "a value is missing before `to`"
route y when namespace == "a" to         ### TG005 "a name is missing behind `to`"
route z when namespace == "a"            ### TG005 "`to` with the name of a queue is missing behind `"`"
route otherwise allow                    ### TG004 "`allow` is not valid here"
---
deny a when pods > 1 {
  mesage "hello"                         ### TG004 "`mesage` is no statement"
}
deny b audit when pods > 1 { message "" }       ### TG016 "`audit` is the last word of the head of a rule"
deny c when pods > 1 and pods < 3 { message "" }   ### TG004 "`and` is no operator here"
deny d when name == 'x { message "" }           ### TG007 "this text is never closed"
deny e when pods > 1 { message "x }             ### TG007 "this text is never closed"
deny f when pods = 1 { message "" }             ### TG004 "`=` is no operator here"
deny g when (pods > 1 { message "" }            ### TG005 "`)` is missing before `{`"
deny h when pods > 1 { message hello }          ### TG004 "`hello` has to stand in double quotes"
---
flavor f { node a = "b" }                ### TG004 "`a` has to stand in double quotes"
flavor g { node "a" "b" }                ### TG005 "`=` is missing before `"b"`"
priority x "5"                           ### TG004 "a number is expected, not the text `"5"`"
queue "x" { quota { cpu 1 } }            ### TG015 "a name stands without quotes"
// hello                                 ### TG004 "a comment begins with `#`"
42                                       ### TG003 "a statement is expected here"
---
queue a {                                ### TG006 "this block is never closed"
  quota { cpu 1 }

queue b { quota { cpu 1 } }
route to b
---
queue a { quota { cpu 1 } }
}                                        ### TG006 "this `}` closes nothing"
queue b { quota { cpu 1.5x } }           ### TG010 "there is no unit `x`"
---
cohort c {
  queue a {                              ### TG006 "this block is never closed"
    quota { cpu 1 }
  queue b { quota { cpu 1 } }
}
route to d                               ### TG104 "no queue named `d`"
---
cohort c {
  queue a {
    quota                                ### TG005 "`{` is missing behind `quota`"
      cpu 1 borrow 2
      memory 5Gi
    }
    order strict
  }
}
---
cohort c {
  queue a {
    quota { cpu 1 } }
    order strict
  }
}                                        ### TG006 "this `}` closes nothing"
queue b in c { quota { cpu 1 borrow 2 } }
---
resorce gpu = nvidia.com/gpu             ### TG004 "`resorce` is no statement"
queue a { quota { gpu 5 } }
route to a
---
queue a { quota { gpu 5 } }              ### TG108 "no resource named `gpu`"
deny b when requests.gpu > 1 { message "{requests.gpu}" }
---
apiVersion: kueue.x-k8s.io/v1beta1       ### TG003 "this is a manifest in YAML, no policy"
kind: ClusterQueue
metadata:
  name: "team-a"
spec:
  namespaceSelector: {}
  resourceGroups:
  - flavors:
    - name: "default"
      nominalQuota: 9
---
queue a { quota { cpu 1 } }
apiVersion: v1                           ### TG003 "this is a manifest in YAML, no policy"
spec: {a: 5}
quuue b { quota { cpu 1 } }
queue c { quta { cpu 1 } }               ### TG004 "`quta` is no statement"
---
resource gpu: nvidia.com/gpu             ### TG004 "`:` is not written here"
flavor f { node "a": "b" }               ### TG004 "`:` is not written here"
flavor g {
  tolerate "a" = "b" NoSchedule          ### TG005 "`:` is missing before `NoSchedule`"
}
priority high = 5                        ### TG004 "`=` is not written here"
cohort c {
  queue a {
    quota f { gpu: 4, cpu = 5 }          ### TG004 "`:` is not written here" ### TG004 "`=` is not written here"
    quota g { gpu 4; cpu 8GB }           ### TG004 "`;` is not written here" ### TG010 "there is no unit `GB`"
    order: strict                        ### TG004 "`order:` is not valid here"
  }
}
queue b { quota { cpu "4" } }            ### TG004 "a number is expected, not the text `"4"`"
queue d { quota { memory 64 Gi } }       ### TG004 "`Gi` stands apart from its number"
queue e { quota { cpu 4000mi } }         ### TG010 "there is no unit `mi`"
route x when pods > 1 -> e               ### TG004 "a route has no arrow"
route w when pods > 1 => e               ### TG004 "a route has no arrow"
route v when pods => 1 to e              ### TG004 "`=>` is no operator here"
route y to queue e                       ### TG004 "`e` is not valid here"
queue g { cpu 4 }                        ### TG004 "`cpu` does not stand in a queue itself"
deny when pods > 3 { message "no" }      ### TG005 "a deny needs a name"
deny for Job when pods > 3 { message "no" }   ### TG005 "a deny needs a name"
deny z when pods > 3 {
  message too many pods                  ### TG004 "`too many pods` has to stand in double quotes"
}
"""
HELPS = {
    "queue a { quota { cpu: 4 } }": "write `cpu 4`",
    "resource gpu: nvidia.com/gpu": "write `=`",
    "queue a { cpu 4 }": "write `quota { cpu 4 }`",
    "queue a { nominalQuota 4 }": "did you mean `quota`?",
    "resource a.b/x = x\nqueue a { quota { x 4 } }": "the short name comes first: `resource NAME = a.b/x`",
    'deny b when requests.gpu > 1 { message "no" }': (
        'write `requests["nvidia.com/gpu"]`, or declare `resource gpu = nvidia.com/gpu`'
    ),
    "queue a { quota { cpu 4; memory 8Gi } }": "write a comma, or begin a new line",
    'queue a { quota { cpu "4" } }': "write `4`",
    "queue a { quota { memory 64 Gi } }": "write `64Gi`",
    "queue a { quota { cpu 4000mi } }": "write `4000m`",
    "queue a { quota { cpu 1 } }\nroute to queue a": "write `to a`",
    "queue a { quota { cpu 1 } }\nroute when pods > 1 => a": "write `to`",
    "deny a when pods > 3 { message more than three, sorry }": 'write `"more than three, sorry"`',
    "deny when pods > 3 { }": "write `deny NAME when …`; those who are refused read it",
}


@pytest.mark.parametrize("chunk", split(CHUNKS))
def test_each_mistake_is_reported_once_at_its_line(chunk: str) -> None:
    assert reported(plain(chunk)) == expected(chunk)


@pytest.mark.parametrize("text", HELPS)
def test_the_help_says_what_to_write(text: str) -> None:
    (found,) = problems(text + "\n")
    assert found.help == HELPS[text]


@pytest.mark.parametrize("text", HELPS)
def test_what_the_help_says_is_right(text: str) -> None:
    (found,) = problems(text + "\n")
    if found.fix is not None and found.fix.text != "quota":
        start, end = found.fix.span.start, found.fix.span.end
        assert problems(text[:start] + found.fix.text + text[end:] + "\n") == ()


def test_many_signs_of_another_language_cost_no_more_than_is_shown() -> None:
    assert len(problems("queue a { quota { " + "cpu : 1, " * 5000 + "} }\n")) <= MOST + 1


@pytest.mark.parametrize(
    "name", ["queuefoo", "order-x", "route", "deny", "audit", "tomorrow", "whenever"]
)
def test_a_name_may_begin_with_or_be_a_keyword(name: str) -> None:
    text = f"queue {name} {{\n  quota {{ cpu 1 }}\n}}\nroute {name} when pods > 1 to {name}\n"
    assert problems(text) == ()


def test_a_statement_goes_on_where_the_rules_say_so() -> None:
    text = (
        "queue a { quota { cpu 1 } }\r\n"
        "route x for Job,\r\n"
        "  JobSet when pods > 1 &&\r\n"
        "  namespace in [\r\n    'a',\r\n    'b']  # a comment\r\n\r\n"
        "# another\r\n"
        "  && pods < 5\r\n"
        "  to a audit\r\n"
    )
    assert problems("\ufeff" + text) == ()


def test_brackets_on_lines_of_their_own_and_fields_named_like_keywords_are_read() -> None:
    text = (
        'set x when (\n  queue in ["a"] && x["b"].in\n) {\n  spec.a = {\n    "a": 1\n  }\n}\n'
        'deny b when object . when {\n  message "x"\n}\n'
    )
    parsed = parse(text, path="x")
    assert parsed.problems == ()
    assert len(parsed.file.statements) == 2


def test_comments_are_kept_with_their_places() -> None:
    file = parse(
        '# one\nqueue a { # two\n  quota { cpu 1 }\n}\nroute otherwise deny "# no"\n', path="x"
    ).file
    assert [(c.text, c.span.line) for c in file.comments] == [("# one", 1), ("# two", 2)]


def test_spans_do_not_count_in_equality() -> None:
    left = parse("cohort a { queue b { quota { cpu 1, gpu 2 } } }\n", path="x").file
    right = parse(
        "\n\ncohort a {\n  queue b {\n    quota {\n cpu 1\n gpu 2\n}\n}\n}\n", path="x"
    ).file
    assert left == right
    (cohort,) = left.statements
    assert isinstance(cohort, Cohort)
    assert isinstance(cohort.body[0], Queue)


def test_a_file_that_is_too_large_or_too_deep_is_not_read() -> None:
    assert codes("#" * (LARGEST + 1)) == ["TG017"]
    assert codes("cohort a { " * 150 + "}" * 150) == ["TG017"]
    assert codes("cohort a { " * 31 + "queue q { }" + "}" * 31)[0] != "TG017"
    assert codes("route x when " + "(" * 101 + "pods > 1" + ")" * 101 + " to q") == ["TG017"]


WORDS = "queue cohort route deny to when in quota pool audit message flavor a b cpu 5 64GB { } ( )"
WORDS += (
    " limit per user jobs warn set spec.x[*] = kind api pods from times * test given submit expect"
)
WORDS += (
    " waiting because settings mode preempt within to borrow prefer over hold ready share by weight"
)
SIGNS = '[ ] " \' "x" \\ # && == = , : . .. - ! \x00 \u201c \u200b ä 🎉 """ {{'
PIECES = st.sampled_from([*WORDS.split(" "), *SIGNS.split(" "), "\n", "\r", "\t"])
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(PIECES, max_size=60).map(" ".join),
    st.lists(PIECES, max_size=40).map("".join),
)


@given(TEXTS)
def test_any_text_gives_problems_inside_of_it_and_raises_nothing(text: str) -> None:
    policy, found = lint([("x.tide", text)])
    for problem in found:
        for span in (problem.span, *(span for span, _ in problem.others)):
            assert 0 <= span.start <= span.end <= len(text)
            assert span.line >= 1
            assert span.column >= 1
    assert (policy is None) == any(p.severity.value == "error" for p in found)


@given(st.text(string.ascii_lowercase + string.digits + "-", min_size=1, max_size=12))
def test_a_word_behind_queue_is_its_name_or_is_said_to_be_none(name: str) -> None:
    found = problems(f"queue {name} {{\n  quota {{ cpu 1 }}\n}}\n")
    assert all(p.code in ("TG015", "TG004", "TG005") for p in found)
    assert len(found) <= 1
