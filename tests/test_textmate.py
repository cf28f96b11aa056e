"""The TextMate grammar is held to the language: the parser's own tokens get the scopes a reader expects.

A small matcher does what an editor does (the earliest match wins, the first pattern among several; a begin lasts to
its end), with the patterns as they stand: they use only what Oniguruma and Python have in common.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lark import Token

from webhook.language.functions import METHODS
from webhook.language.grammar import keywords
from webhook.language.parse import parse
from webhook.language.scope import VARIABLES

ROOT = Path(__file__).parent.parent
GRAMMAR = json.loads((ROOT / "editors" / "tide.tmLanguage.json").read_text())
EVERYTHING = '''\
settings {
  mode audit
  queue-label "kueue.x-k8s.io/queue-name"   # while moving
}
cohort research {
  share by weight
  queue vision in all {
    weight 2
    preempt lower-or-newer within queue
    preempt any from borrowers
    preempt lower-priority to borrow below urgent
    prefer borrowing over next-flavor over preempting
    limit nvidia.com/gpu 4 jobs 20 per label "team"
    uncovered refuse
    accept when namespaceObject.metadata.labels["team"] == 'a b' || user in ["x", "y"]
    hold "until monday"
    ready within 1h30m retries 3
  }
}
warn slow for Job when object.spec.template.spec.containers.all(c, has(c.resources)) audit {
  message "{{ no }} {labels[\\"a\\"]} \\u00e9"
}
set tidy for Job when !has(object.spec.x) && -1 < pods % 2 {
  spec.ttlSecondsAfterFinished = quantity("1Gi").isLessThan(requests.memory) ? 1.5e3 : 0x1F
  metadata.labels["a/b"] = r"\\d" + """two
lines # of text"""
}
kind RayJob {
  api "ray.io/v1" kind "RayJob" plural "rayjobs"
  suspend spec.suspend
  pods workers from spec.groups[*].template times 2 * replicas
  pods driver requests { cpu coreRequest }
  children Job, Pod
  finished when object.status.done == true
}
test "t" {
  given namespace "x" labels { team "vision", "a/b" "c" }
  given queue vision running { cpu 8 } on a100 by "ana" priority urgent
  submit Job in "x" groups "g", "h" pods 3 each { cpu 250m }
  expect denied by big "text"
  expect waiting because never-fits
  expect set spec.a = null
}
route otherwise deny "no"
'''
"""Each form of every statement; whether it makes sense is nobody's question here."""
POLICIES = {path.name: path.read_text() for path in sorted((ROOT / "policies").rglob("*.tide"))}
POLICIES["everything"] = EVERYTHING
CONSTANTS = {"true", "false", "null", "default"}


@dataclass
class Painter:
    """The scope of every character of a text."""

    text: str

    def __post_init__(self) -> None:
        self.scopes = [""] * len(self.text)
        self._ends: tuple[re.Pattern[str], list[Any], str] | None = None
        at = 0
        for line in self.text.splitlines(keepends=True):
            self._line(line.rstrip("\n"), at)
            at += len(line)

    def _line(self, line: str, offset: int) -> None:
        at = 0
        while at <= len(line):
            found = self._next(line, at)
            if found is None:
                self._paint(offset + at, offset + len(line), self._ends[2] if self._ends else "")
                return
            match, rule = found
            if self._ends is not None:
                self._paint(offset + at, offset + match.start(), self._ends[2])
            self._take(match, rule, offset)
            at = match.end() if match.end() > match.start() or rule is None else match.end() + 1

    def _next(self, line: str, at: int) -> tuple[re.Match[str], dict[str, Any] | None] | None:
        rules = self._ends[1] if self._ends is not None else GRAMMAR["patterns"]
        found: list[tuple[re.Match[str], dict[str, Any] | None]] = []
        if self._ends is not None and (end := self._ends[0].search(line, at)) is not None:
            found.append((end, None))
        for rule in flat(rules):
            match = re.compile(rule.get("match") or rule["begin"]).search(line, at)
            if match is not None:
                found.append((match, rule))
        return min(found, key=lambda each: each[0].start(), default=None)

    def _take(self, match: re.Match[str], rule: dict[str, Any] | None, offset: int) -> None:
        if rule is None:
            assert self._ends is not None
            self._paint(offset + match.start(), offset + match.end(), self._ends[2])
            self._ends = None
            return
        name = rule.get("name", "")
        self._paint(offset + match.start(), offset + match.end(), name)
        for group, capture in (rule.get("captures") or rule.get("beginCaptures") or {}).items():
            self._paint(
                offset + match.start(int(group)), offset + match.end(int(group)), capture["name"]
            )
        if "begin" in rule:
            self._ends = (re.compile(rule["end"]), rule.get("patterns", []), name)

    def _paint(self, start: int, end: int, scope: str) -> None:
        self.scopes[start:end] = [scope] * (end - start)


def flat(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rules with what they include in place."""
    found: list[dict[str, Any]] = []
    for each in rules:
        include = each.get("include", "").removeprefix("#")
        rule = GRAMMAR["repository"][include] if include else each
        if "match" in rule or "begin" in rule:
            found.append(rule)
        else:
            found += flat(rule["patterns"])
    return found


def words_of(rule: str) -> set[str]:
    """The words a rule lists."""
    text = flat([{"include": f"#{rule}"}])[0]["match"]
    return set(
        re.findall(r"[A-Za-z][A-Za-z0-9_-]*", max(re.findall(r"\(\?:([^()]*)\)", text), key=len))
    )


def test_every_keyword_of_the_grammar_is_listed_and_no_other_word() -> None:
    assert words_of("keyword") | words_of("constant") == set(keywords().values())
    assert words_of("constant") == CONSTANTS


def test_every_variable_and_function_is_listed() -> None:
    assert words_of("variable") == set(VARIABLES)
    assert set(METHODS) | {
        "has",
        "quantity",
        "size",
        "all",
        "exists",
        "exists_one",
        "filter",
        "map",
    } <= words_of("function")


def expected(token: Token, before: str) -> str:
    """The scope that a token of the parser should have, as a pattern."""
    kind = token.type
    if kind in keywords():
        return r"keyword\.|constant\.language" if str(token) in CONSTANTS else r"keyword\."
    if kind in ("NUMBER", "C_NUMBER"):
        return r"constant\.numeric"
    if kind in ("TEXT", "C_STRING"):
        return r"string\."
    if kind == "C_NAME":
        return r"variable\.|support\.function"
    if kind == "C_FIELD":
        return r"variable\.other\.member|support\.function"
    if kind == "WORD" and before in ("_QUEUE", "_COHORT", "_FLAVOR", "_DENY", "_ROUTE"):
        return r"entity\.name|variable\.other|constant\.language"
    if kind in ("WORD", "PATH"):
        return r"variable\.|constant\.language|support\.type|entity\.name|keyword\.other|support\.constant"
    if kind == "C_MINUS":  # may be a number's own
        return r"keyword\.operator|constant\.numeric"
    return "" if kind == "C_DOT" else r"keyword\.operator|punctuation\."


@pytest.mark.parametrize("name", POLICIES)
def test_tokens_have_the_scopes_a_reader_expects(name: str) -> None:
    text = POLICIES[name]
    tokens: list[Token] = []
    parsed = parse(text, path=name, tokens=tokens)
    assert parsed.problems == ()
    painter = Painter(text)
    before = ""
    for token in tokens:
        if token.type == "_NL" or token.start_pos is None:
            continue
        scope = painter.scopes[token.start_pos]
        assert re.match(expected(token, before), scope), (token.line, token.type, str(token), scope)
        before = token.type
    for comment in parsed.file.comments:
        scopes = set(painter.scopes[comment.span.start : comment.span.end])
        assert scopes == {"comment.line.number-sign.tide"}


@pytest.mark.parametrize(
    ("text", "at", "scope"),
    [
        ("queue vision {", "vision", "entity.name.type.tide"),
        ("queue vision {", "queue", "keyword.declaration.tide"),
        ("route when kind in [\"a\"] to q", "kind", "variable.language.tide"),
        ("deny x when requests.gpu > 4 {", "gpu", "variable.other.member.tide"),
        ("deny x when requests.gpu > 4 {", "requests", "variable.language.tide"),
        ("deny x when !has(object.spec)", "has", "support.function.tide"),
        ("deny x when name.startsWith(\"a\")", "startsWith", "support.function.tide"),
        ("quota a100 { memory 64Gi }", "64Gi", "constant.numeric.tide"),
        ("limit gpu 4 per user", "per", "keyword.other.tide"),
        ('message "no {requests.gpu}, # 1"', "requests", "meta.interpolation.tide"),
        ('message "no {requests.gpu}, # 1"', "# 1", "string.quoted.double.tide"),
        ('message "a \\" b"', "b", "string.quoted.double.tide"),
        ("queuefoo", "queuefoo", "variable.other.tide"),
        ("resource gpu = nvidia.com/gpu", "nvidia.com/gpu", "support.constant.resource.tide"),
        ("quota { nvidia.com/gpu 4 }", "com", "support.constant.resource.tide"),
        ("order first-fit", "first-fit", "constant.language.tide"),
        ("x == '''a\nqueue b''' # c", "queue", "string.quoted.triple.tide"),
        ("route for Job to q", "Job", "support.type.tide"),
    ],
)  # fmt: skip
def test_single_places(text: str, at: str, scope: str) -> None:
    assert Painter(text).scopes[text.index(at)] == scope
