"""From the trees of the grammar to those of syntax_kinds.py."""

from __future__ import annotations

from typing import Literal, cast

from lark import Token, Tree

from webhook.language.syntax import (
    Api,
    Children,
    FieldPath,
    InKind,
    KindOf,
    Measure,
    PodsFrom,
    PodsFromChild,
    Source,
    State,
)
from webhook.language.tree_leaves import Leaves, named, trees

_PATHS: dict[str, Literal["suspend", "inject", "priority-class"]] = {
    "suspend": "suspend",
    "inject": "inject",
    "priority_class": "priority-class",
}


class KindBuilder:
    """Builds declarations of kinds."""

    def __init__(self, source: Source) -> None:
        self._leaves = Leaves(source)

    def kind(self, tree: Tree[Token]) -> KindOf:
        """One declaration."""
        body = tuple(self._in_kind(part) for part in trees(tree))
        return KindOf(self._leaves.words(tree)[0], body, self._leaves.span(tree))

    def _in_kind(self, tree: Tree[Token]) -> InKind:
        span, rule = self._leaves.span(tree), str(tree.data)
        match rule:
            case "api":
                return self._api(tree)
            case "children":
                return Children(tuple(self._leaves.words(tree)), span)
            case "pods":
                return self._pods(tree)
            case "from_child":
                return PodsFromChild(self._leaves.words(tree)[0], span)
            case _ if rule in _PATHS:
                return FieldPath(_PATHS[rule], self._leaves.path(tree), span)
            case _:
                word = cast("Literal['finished', 'active', 'ready']", rule)
                return State(word, self._leaves.condition(tree), span)

    def _api(self, tree: Tree[Token]) -> Api:
        version, plural = self._leaves.texts(tree)
        kind = named(tree, "api_kind")
        name = None if kind is None else self._leaves.text(kind)
        return Api(version, name, plural, self._leaves.span(tree))

    def _pods(self, tree: Tree[Token]) -> PodsFrom:
        template, times, fields = (named(tree, rule) for rule in ("template", "times", "fields"))
        return PodsFrom(
            self._leaves.words(tree)[0],
            None if template is None else self._leaves.path(template),
            () if times is None else tuple(self._leaves.mixed(times)),
            None if fields is None else tuple(self._measure(part) for part in trees(fields)),
            self._leaves.span(tree),
        )

    def _measure(self, tree: Tree[Token]) -> Measure:
        resource, source = self._leaves.words(tree)
        return Measure(resource, source, self._leaves.span(tree))
