"""Notes on style: messages that do not help, and files in another form than `tidegate fmt` writes."""

import pytest

from tests.language.chunks import codes, problems
from webhook.language.check import lint
from webhook.language.fixes import apply
from webhook.language.format import format_text
from webhook.language.problems import Problem


def rule(condition: str, message: str, head: str = "deny d") -> str:
    return f'{head} when {condition} {{\n  message "{message}"\n}}\n'


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("pods > 8", "too many"),
        ("8 < pods", "too many"),
        ('namespace == "a" && !(pods <= 8)', "too many"),
        ("requests.memory > quantity('64Gi')", "too much memory"),
        ("pods > 8", "{{too many}}"),
        ("pods > 0", "  "),
        ('namespace == "a"', ""),
    ],
)
def test_a_message_that_does_not_help(condition: str, message: str) -> None:
    (found,) = problems(rule(condition, message))
    assert (found.code, found.span.line) == ("TG705", 2)
    (found,) = problems(rule(condition, message, "warn w"))
    assert found.code == "TG705"


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("pods > 8", "at most 8"),
        ("pods > 8", "at most eight"),
        ("pods > 8", "{pods} are too many"),
        ("pods > 0", "no pods here"),
        ("requests.cpu >= 1", "no cpu here"),
        ('namespace == "a"', "not here"),
        ("pods == 8", "not so many"),
        ('size(namespace) == 8 && namespace < "x"', "not here"),
    ],
)
def test_a_message_that_does(condition: str, message: str) -> None:
    assert codes(rule(condition, message)) == []


def test_the_help_shows_what_to_insert_as_a_message_takes_it() -> None:
    (found,) = problems(rule('requests["nvidia.com/gpu"] > 8', "too many"))
    value = "{requests['nvidia.com/gpu']}"
    assert f"`{value}`" in found.help
    assert codes(rule('requests["nvidia.com/gpu"] > 8', value)) == []


def test_a_refusal_of_everybody_else_says_something() -> None:
    assert codes('route otherwise deny ""\n') == ["TG705"]
    assert codes('route otherwise deny "ask the admins"\n') == []


def form(text: str) -> tuple[Problem, ...]:
    """What is found where the form is asked for."""
    return lint([("x.tide", text)], form=True)[1]


QUEUE = "queue q { quota { cpu 1 } }\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("queue q {quota{cpu 1}}\n", 1),
        (QUEUE + "\n\n\nroute to q\n", 3),
        (QUEUE + "route to q", 2),
        (QUEUE + "route   to q  \n", 2),
        (QUEUE.replace("\n", "\r\n") + "route  to q\r\n", 2),
        ("# é\nqueue q { quota { cpu 1,  memory 2Gi } }\n", 2),
    ],
)
def test_another_form_is_told_at_its_first_line_and_put_right_safely(text: str, line: int) -> None:
    assert codes(text) == []
    (found,) = form(text)
    assert (found.code, found.span.line) == ("TG701", line)
    assert found.fix is not None
    assert found.fix.safe
    right = apply(text, [found.fix], "x.tide")
    assert right == format_text(text, path="x.tide").text
    assert form(right) == ()


def test_a_file_with_mistakes_has_no_form() -> None:
    assert [p.code for p in form("queue q {quota{cpu 1}\n")] == ["TG006"]


def test_a_form_that_is_meant_can_be_suppressed_and_is_never_missed() -> None:
    text = "# tidegate: ignore[TG701] as it stands in the paper\nqueue q { quota { cpu  1 } }\n"
    assert form(text) == ()
    assert codes(text) == []
    assert codes("# tidegate: ignore[TG701, TG308] all in May\n" + QUEUE) == ["TG704"]
