"""`expect` lines held against what happened, and what happened in words: wanted, got, who decided it, the numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from webhook.admission.decision import LONGEST_LINE, Refusal, one_line
from webhook.admission.decision import Reason as Refused
from webhook.language.conditions import ConditionFailed, Scope
from webhook.language.expression import render
from webhook.language.paths import Every, Key
from webhook.language.policy import Policy
from webhook.language.scenes import Expected
from webhook.rehearsal.playing import Outcome

_NO_SCOPE: Final = Scope({}, None, {}, None, "", "", "", {}, {}, "", (), None, None, 0, {})
"""The value of an `expect set` knows no variables."""
MOST_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Unmet:
    """An expectation that does not hold. ``deciders`` are places with what was decided there."""

    expected: Expected
    want: str
    got: str
    deciders: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """Both sides on one line, without characters that a terminal would obey."""
        return one_line(f"expected {self.want}, but {self.got}", "", LONGEST_LINE)


def unmet(expected: Sequence[Expected], outcome: Outcome, policy: Policy) -> Iterator[Unmet]:
    """Those that do not hold, in the order of their lines."""
    for each in expected:
        if not holds(each, outcome):
            got = _got_set(each, outcome) if each.what == "set" else None
            deciders = tuple(dict(_deciders(each, outcome, policy)).items())
            yield Unmet(each, _want(each), got or happened(outcome), deciders, _notes(outcome))


def holds(expected: Expected, outcome: Outcome) -> bool:
    """Whether it came as one line says."""
    return _HOLDS[expected.what](expected, outcome)


def _queue(expected: Expected, outcome: Outcome) -> bool:
    return outcome.submitted.queue == expected.name


def _denied(expected: Expected, outcome: Outcome) -> bool:
    return any(
        (expected.name is None or refusal.rule == f"deny {expected.name}")
        and _says(expected, refusal.message)
        for refusal in outcome.submitted.refusals
        if refusal.reason is Refused.DENIED
    )


def _refused(expected: Expected, outcome: Outcome) -> bool:
    return any(
        expected.reason in (None, refusal.reason.value) and _says(expected, refusal.message)
        for refusal in outcome.submitted.refusals
        if refusal.reason is not Refused.DENIED
    )


def _warned(expected: Expected, outcome: Outcome) -> bool:
    return any(
        (expected.name is None or told.rule == f"warn {expected.name}")
        and _says(expected, told.message)
        for told in outcome.submitted.account.warned
    )


def _starts(expected: Expected, outcome: Outcome) -> bool:
    return outcome.start is not None and expected.name in (None, *_flavors(outcome))


def _waiting(expected: Expected, outcome: Outcome) -> bool:
    if outcome.reason is None or outcome.start is not None:
        return False
    return expected.reason in (None, outcome.reason.kind.value)


def _preempts(expected: Expected, outcome: Outcome) -> bool:
    return len(outcome.evictions) == expected.count


def _is_set(expected: Expected, outcome: Outcome) -> bool:
    if outcome.submitted.refusals or expected.value is None:
        return False
    try:
        wanted = _json(expected.value.evaluate(_NO_SCOPE))
    except ConditionFailed:
        return False
    found = list(values_at(outcome.submitted.object, expected.path))
    return bool(found) and all(_json(value) == wanted for value in found)


def _ignored(expected: Expected, outcome: Outcome) -> bool:
    return outcome.submitted.queue is None and not outcome.submitted.refusals


_HOLDS: Final[Mapping[str, Callable[[Expected, Outcome], bool]]] = MappingProxyType(
    {
        "queue": _queue,
        "denied": _denied,
        "refused": _refused,
        "warned": _warned,
        "starts": _starts,
        "waiting": _waiting,
        "preempts": _preempts,
        "set": _is_set,
        "ignored": _ignored,
    }
)


def _says(expected: Expected, message: str) -> bool:
    return expected.text is None or expected.text in message


def _flavors(outcome: Outcome) -> tuple[str, ...]:
    """Those it starts on, each once."""
    if outcome.start is None:
        return ()
    every = [f for pods in outcome.start.admission.pod_sets for f in pods.flavors.values()]
    return tuple(dict.fromkeys(every))


def values_at(obj: Any, path: Sequence[Key]) -> Iterator[Any]:
    """What stands at a path; nothing where it ends early, each of them where it goes through lists."""
    if not path:
        yield obj
    elif isinstance(path[0], Every):
        for item in obj if isinstance(obj, list) else ():
            yield from values_at(item, path[1:])
    elif isinstance(obj, Mapping) and path[0] in obj:
        yield from values_at(obj[path[0]], path[1:])


def _json(value: Any) -> str:
    """Equal texts are equal values, and true is not 1."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _want(expected: Expected) -> str:
    """As it goes on behind "expected"."""
    name, reason = expected.name, expected.reason
    text = f' with "{expected.text}"' if expected.text is not None else ""
    by = f" by `{name}`" if name else ""
    match expected.what:
        case "queue":
            return f"queue `{name}`"
        case "denied" | "warned":
            return f"it to be {expected.what}{by}{text}"
        case "refused":
            return f"it to be refused{f' because {reason}' if reason else ''}{text}"
        case "starts":
            return f"it to start{f' on `{name}`' if name else ''}"
        case "waiting":
            return f"it to wait{f' because {reason}' if reason else ''}"
        case "preempts":
            return f"it to preempt {expected.count}"
        case "set":
            value = render(expected.value.node) if expected.value else "?"
            return f"`{_path(expected.path)}` to be {value}"
        case _:
            return "it to be ignored"


def _path(path: Sequence[Key]) -> str:
    """As a policy writes it."""
    text = ""
    for key in path:
        if isinstance(key, Every):
            text += "[*]"
        elif key.isidentifier():
            text += f".{key}" if text else key
        else:
            text += f"[{json.dumps(key)}]"
    return text


def happened(outcome: Outcome) -> str:
    """What became of it, in words; the first refusal where there are several."""
    submitted = outcome.submitted
    if submitted.refusals:
        return _turned_away(submitted.refusals)
    if submitted.queue is None:
        return "it is ignored: no route leads it to a queue"
    if outcome.start is not None:
        flavors = " and ".join(f"`{name}`" for name in _flavors(outcome))
        return f"it starts in `{submitted.queue}`{f' on {flavors}' if flavors else ''}"
    reason = outcome.reason
    why = f" because {reason.kind.value}: {reason.text}" if reason is not None else ""
    victims = len(outcome.evictions)
    return f"it waits in `{submitted.queue}`{why}{f', preempts {victims}' if victims else ''}"


def _turned_away(refusals: Sequence[Refusal]) -> str:
    first = refusals[0]
    if first.reason is Refused.DENIED:
        how = f"denied by `{first.rule.removeprefix('deny ')}`"
    else:
        how = f"refused because {first.reason.value}"
    more = f" (and {len(refusals) - 1} more)" if len(refusals) > 1 else ""
    return f"it is {how}: {first.message}{more}"


def _got_set(expected: Expected, outcome: Outcome) -> str | None:
    """What stands there instead; None where nothing is stored."""
    if outcome.submitted.refusals:
        return None
    found = [_json(value) for value in values_at(outcome.submitted.object, expected.path)]
    if not found:
        return "it is not there"
    shown = ", ".join(dict.fromkeys(found))
    return f"it is {shown if len(shown) <= MOST_SHOWN else shown[:MOST_SHOWN] + '…'}"


def _deciders(expected: Expected, outcome: Outcome, policy: Policy) -> Iterator[tuple[str, str]]:
    """Places with what was decided there, as far as it is about this expectation."""
    submitted = outcome.submitted
    yield from _silent(expected, outcome, policy)
    for refusal in submitted.refusals:
        for place in refusal.place.split(", ") if refusal.place else ():
            yield place, _refuses(refusal)
    if expected.what == "queue":
        yield from _way(outcome, policy)
    elif outcome.reason is not None and expected.what in ("starts", "waiting", "preempts"):
        over, queue = outcome.reason.over, policy.quotas.queues.get(submitted.queue or "")
        if over is not None:
            yield over.limit.place, "this limit stops it"
        elif queue is not None:
            yield queue.place, "it starts here" if outcome.start else "it waits here"
    elif submitted.queue is None:
        yield from _way(outcome, policy)


def _way(outcome: Outcome, policy: Policy) -> Iterator[tuple[str, str]]:
    """What led it to its queue, or past all of them."""
    route, otherwise = outcome.submitted.account.route, policy.otherwise
    if route is not None:
        yield route.place, f"this leads it to `{outcome.submitted.queue}`"
    elif otherwise is not None and otherwise.place in outcome.true:
        yield otherwise.place, "no other route matches"


def _silent(expected: Expected, outcome: Outcome, policy: Policy) -> Iterator[tuple[str, str]]:
    """The rule that was to speak up and did not."""
    rules = policy.denies if expected.what == "denied" else policy.warns
    for rule in rules if expected.what in ("denied", "warned") else ():
        if rule.name == expected.name and rule.place not in outcome.true:
            yield rule.place, "not true for it"


def _refuses(refusal: Refusal) -> str:
    if refusal.reason is Refused.DENIED:
        return "denies it"
    return f"refuses it: {refusal.reason.value}"


def _notes(outcome: Outcome) -> tuple[str, ...]:
    """Further refusals, rules that could not be asked, warnings: what helps to see why."""
    submitted = outcome.submitted
    lines = [refusal.line for refusal in submitted.refusals[1:]]
    if submitted.queue is not None and submitted.account.route is None:
        lines.append(f"its label names the queue `{submitted.queue}`")
    lines += [
        f"{told.rule} could not be evaluated: {told.message} ({told.place})"
        for told in submitted.account.failed
    ]
    lines += [f"warns: {told.line}" for told in submitted.account.warned]
    return tuple(one_line(line, "", LONGEST_LINE) for line in lines)
