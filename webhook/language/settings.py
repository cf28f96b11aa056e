"""``settings``: at most one in a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from webhook.language.flavors import is_label_key
from webhook.language.names import Names
from webhook.language.problems import Problem, problem
from webhook.language.records import dataclass
from webhook.language.suggest import did_you_mean
from webhook.language.syntax import Mode, QueueLabel, Source, Span
from webhook.language.texts import read_text
from webhook.model.kinds import Key

_MODES: Final = ("enforce", "audit")


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """``audit``: nothing is refused, written or suspended. ``queue_labels``: further keys read as the queue's name."""

    audit: bool = False
    queue_labels: tuple[str, ...] = ()


def read_settings(
    names: Names, sources: Mapping[str, Source]
) -> tuple[PolicySettings, tuple[Problem, ...]]:
    """What the policy's ``settings`` say, and what is wrong with them."""
    found: list[Problem] = []
    modes: list[Mode] = []
    labels: dict[str, Span] = {}
    for statement in names.settings:
        if statement is not names.settings[0]:
            others = ((names.settings[0].span, "the first"),)
            message = "there are two `settings`"
            found.append(problem("TG111", statement.span, message, others=others))
            continue
        for part in statement.body:
            if isinstance(part, Mode):
                modes.append(part)
            else:
                _labels(part, sources[part.span.path], labels, found)
    return PolicySettings(_audits(modes, found), tuple(labels)), tuple(found)


def _audits(modes: list[Mode], found: list[Problem]) -> bool:
    for second in modes[1:]:
        others = ((modes[0].span, "the first"),)
        found.append(problem("TG101", second.span, "there are two `mode` lines", others=others))
    for word in (mode.mode for mode in modes[:1] if mode.mode.text not in _MODES):
        advice = did_you_mean(word.text, _MODES) or "`enforce` or `audit`"
        found.append(problem("TG004", word.span, f"there is no mode `{word.text}`", help=advice))
    return any(mode.mode.text == "audit" for mode in modes[:1])


def _labels(
    part: QueueLabel, source: Source, labels: dict[str, Span], found: list[Problem]
) -> None:
    for text in part.keys:
        key, problems = read_text(text, source)
        found += problems
        if not is_label_key(key):
            found.append(problem("TG015", text.span, f"`{key}` is not the key of a label"))
        elif key.startswith(Key.PREFIX):
            message = f"`{key}` is a label of ours"
            advice = f"`{Key.QUEUE}` is always read; name the labels of others"
            found.append(problem("TG210", text.span, message, help=advice))
        elif key in labels:
            others = ((labels[key], "first here"),)
            found.append(problem("TG210", text.span, f"`{key}` stands twice", others=others))
        else:
            labels[key] = text.span
