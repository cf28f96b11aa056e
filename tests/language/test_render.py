"""The form of a diagnostic, to the character."""

from webhook.language.check import lint
from webhook.language.problems import problem
from webhook.language.render import MOST, render_text
from webhook.language.syntax import Source

PATH = "policies/ml.tide"
POLICY = (
    "\n" * 18
    + "cohort research {\n  queue vision {\n    quota { cpu 1 }\n  }\n}\n"
    + "\n" * 7
    + 'route vision for Job when namespace.startsWith("vision-") to vison\n'
)
EXPECTED = """\
error[TG104]: no queue named `vison`
  --> policies/ml.tide:31:62
   |
31 | route vision for Job when namespace.startsWith("vision-") to vison
   |                                                              ^^^^^ not declared in any file
   |
  ::: policies/ml.tide:20:9
20 |   queue vision {
   |         ------ declared here
 help: did you mean `vision`?
"""


def rendered(text: str, start: int, end: int, label: str = "") -> list[str]:
    source = Source("x", text)
    found = problem("TG004", source.span(start, end), "m", label=label)
    return render_text([found], {"x": source}).splitlines()[3:]


def test_a_diagnostic_has_the_form_of_the_reference() -> None:
    _, problems = lint([(PATH, POLICY)])
    assert render_text(problems, {PATH: Source(PATH, POLICY)}) == EXPECTED


def test_colour_changes_no_text() -> None:
    _, problems = lint([(PATH, POLICY)])
    colored = render_text(problems, {PATH: Source(PATH, POLICY)}, color=True)
    assert "\x1b[1;31merror[TG104]\x1b[0m" in colored
    for code in ("[0m", "[1m", "[1;31m", "[1;34m"):
        colored = colored.replace(f"\x1b{code}", "")
    assert colored == EXPECTED


def test_the_mark_stands_under_the_mistake_behind_tabs_and_wide_characters() -> None:
    assert rendered("\tab\tc", 4, 5) == ["1 |     ab  c", "  |         ^"]
    assert rendered('"漢字" x', 5, 6) == ['1 | "漢字" x', "  |        ^"]
    assert rendered('"e\u0301" x', 5, 6) == ['1 | "e\u0301" x', "  |     ^"]
    assert rendered("a\x07b", 1, 2) == ["1 | a\ufffdb", "  |  ^"]


def test_a_span_over_lines_is_marked_to_the_end_of_its_first() -> None:
    assert rendered("ab cd\nef", 3, 8, "here") == ["1 | ab cd", "  |    ^^ here"]


def test_a_place_behind_the_text_still_gets_a_mark() -> None:
    assert rendered("ab", 2, 2) == ["1 | ab", "  |   ^"]
    assert rendered("", 0, 0) == ["1 |", "  | ^"]


def test_a_long_line_is_cut_around_the_mistake() -> None:
    line, mark = rendered("a" * 1000 + "X" + "b" * 1000, 1000, 1001)
    assert len(line) < 200
    assert line[mark.index("^")] == "X"


def test_after_fifty_there_is_a_count() -> None:
    text = "queue q { quota { cpu 1 } }\n" + "foo\n" * 60
    _, problems = lint([("x", text)])
    shown = render_text(problems, {"x": Source("x", text)})
    assert shown.count("error[TG004]") == MOST
    assert shown.endswith("\nand 10 more\n")
    assert render_text([], {}) == ""
