"""A small part of CEL, enough for the ``matchConditions`` of our own deployment.

Known: paths from ``request``, ``object`` and ``oldObject`` (``.name`` and ``["name"]``), text,
whole numbers, ``true false null``, ``== != in && || ! ( ) [ , ]``, ``has(path)``,
``text.startsWith(text)`` and ``list.exists(x, test)``. Everything else is refused when the
configuration is written, by name, rather than judged wrongly later.

As in CEL a field that is absent is an error, and ``&&`` and ``||`` swallow an error where the other
side decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import orjson

Scope: TypeAlias = Mapping[str, Any]
Test: TypeAlias = Callable[[Scope], Any]

ROOTS = frozenset({"request", "object", "oldObject", "namespaceObject"})
_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<number>[0-9]+)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>==|!=|&&|\|\||[!().,\[\]]))",
)
_WORDS: Mapping[str, Any] = {"true": True, "false": False, "null": None}


class NotSupported(ValueError):
    """The expression is not CEL or beyond the part of it that is known here."""


class EvaluationError(Exception):
    """The expression has no value for this request, such as a field that is absent."""


@lru_cache(maxsize=256)
def compile_condition(text: str) -> Test:
    """The test an expression stands for; raises NotSupported."""
    return _Parser(text).whole()


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotSupported(f"cannot read `{text[at:end].strip()}`")
        found.append((str(match.lastgroup), match.group(str(match.lastgroup))))
        at = match.end()
    return [*found, ("end", "")]


class _Parser:
    """Recursive descent, one method a level; the result is a closure."""

    def __init__(self, text: str) -> None:
        self._rest = _tokens(text)
        self._bound = set(ROOTS)

    def whole(self) -> Test:
        test = self._or()
        if self._rest[0][0] != "end":
            raise NotSupported(f"cannot read `{self._rest[0][1]}` here")
        return test

    def _take(self, *signs: str) -> str:
        """The next token if it is one of these signs or words, and past it; else an empty text."""
        kind, text = self._rest[0]
        if kind in ("sign", "name") and text in signs:
            self._rest.pop(0)
            return text
        return ""

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise NotSupported(f"expected `{sign}` before `{self._rest[0][1] or 'the end'}`")

    def _name(self) -> str:
        kind, text = self._rest.pop(0)
        if kind != "name":
            raise NotSupported(f"expected a name instead of `{text}`")
        return text

    def _or(self) -> Test:
        tests = [self._and()]
        while self._take("||"):
            tests.append(self._and())
        return tests[0] if len(tests) == 1 else _joined(tests, decisive=True)

    def _and(self) -> Test:
        tests = [self._relation()]
        while self._take("&&"):
            tests.append(self._relation())
        return tests[0] if len(tests) == 1 else _joined(tests, decisive=False)

    def _relation(self) -> Test:
        left = self._unary()
        sign = self._take("==", "!=", "in")
        if not sign:
            return left
        right = self._unary()
        if sign == "in":
            return lambda scope: _contains(right(scope), left(scope))
        equal = sign == "=="
        return lambda scope: _equal(left(scope), right(scope)) is equal

    def _unary(self) -> Test:
        if self._take("!"):
            test = self._unary()
            return lambda scope: not _truth(test(scope))
        return self._postfix(self._primary())

    def _primary(self) -> Test:
        if self._take("("):
            test = self._or()
            self._need(")")
            return test
        if self._take("["):
            return self._list()
        kind, text = self._rest.pop(0)
        if kind == "text":
            return _constant(_unquoted(text))
        if kind == "number":
            return _constant(int(text))
        if kind == "name" and text in _WORDS:
            return _constant(_WORDS[text])
        if kind == "name" and text == "has" and self._take("("):
            return self._has()
        if kind == "name" and text in self._bound:
            return lambda scope: scope[text]
        raise NotSupported(f"`{text or 'the end'}` is not supported")

    def _list(self) -> Test:
        tests: list[Test] = []
        while not self._take("]"):
            if tests:
                self._need(",")
            tests.append(self._or())
        return lambda scope: [test(scope) for test in tests]

    def _has(self) -> Test:
        path = self._or()
        self._need(")")
        return lambda scope: _has(path, scope)

    def _postfix(self, test: Test) -> Test:
        while True:
            if self._take("."):
                name = self._name()
                called = bool(self._take("("))
                test = self._call(test, name) if called else _member(test, _constant(name))
            elif self._take("["):
                test = _member(test, self._or())
                self._need("]")
            else:
                return test

    def _call(self, target: Test, name: str) -> Test:
        if name == "exists":
            return self._exists(target)
        argument = self._or()
        self._need(")")
        if name == "startsWith":
            return lambda scope: _text(target(scope)).startswith(_text(argument(scope)))
        raise NotSupported(f"the function `{name}` is not supported")

    def _exists(self, target: Test) -> Test:
        variable = self._name()
        self._need(",")
        shadowed = variable in self._bound
        self._bound.add(variable)
        test = self._or()
        if not shadowed:
            self._bound.discard(variable)
        self._need(")")
        return lambda scope: any(
            _truth(test({**scope, variable: item})) for item in target(scope) or ()
        )


def _constant(value: Any) -> Test:
    return lambda _: value


def _unquoted(text: str) -> str:
    inner = text[1:-1].replace("\\'", "'") if text[0] == "'" else text[1:-1]
    quoted = inner if text[0] == '"' else inner.replace('"', '\\"')
    try:
        return str(orjson.loads(f'"{quoted}"'))
    except orjson.JSONDecodeError as error:
        raise NotSupported(f"cannot read the text {text}") from error


def _member(test: Test, key: Test) -> Test:
    def member(scope: Scope) -> Any:
        value, name = test(scope), key(scope)
        try:
            return value[name]
        except (KeyError, IndexError, TypeError):
            raise EvaluationError(f"no such key: {name}") from None

    return member


def _has(path: Test, scope: Scope) -> bool:
    try:
        return path(scope) is not None
    except EvaluationError:
        return False


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise EvaluationError("no such overload")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise EvaluationError("no such overload")


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _contains(box: Any, item: Any) -> bool:
    if isinstance(box, list | dict):
        return any(_equal(item, member) for member in box)
    raise EvaluationError("no such overload")


def _joined(tests: list[Test], *, decisive: bool) -> Test:
    """``||`` (decisive true) and ``&&`` (decisive false): an error counts only if none decides."""

    def join(scope: Scope) -> bool:
        failure: EvaluationError | None = None
        for test in tests:
            try:
                if _truth(test(scope)) is decisive:
                    return decisive
            except EvaluationError as error:
                failure = failure or error
        if failure is not None:
            raise failure
        return not decisive

    return join
