"""The lines of a queue beside its quotas: who goes first, who is displaced, what one user may run, when it halts.

Only what is certainly wrong is reported. A line that is wrong leaves the default, so that what follows is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Final, TypeVar

from webhook.language.amounts import read_amount, read_duration, read_integer
from webhook.language.names import Names
from webhook.language.problems import Problem, problem
from webhook.language.resources import Resources
from webhook.language.suggest import did_you_mean
from webhook.language.syntax import (
    Bounded,
    Deadline,
    Hold,
    Limit,
    Number,
    Order,
    Preempt,
    Prefer,
    Queue,
    Source,
    Span,
    Text,
    Uncovered,
    Word,
)
from webhook.language.texts import read_text
from webhook.model import queues as model
from webhook.model.quantity import Amount

_Line = TypeVar("_Line", Order, Prefer, Uncovered, Deadline)
_Choice = TypeVar("_Choice", bound=Enum)
_WHOM: Final = {
    "within": (model.Whom.LOWER_PRIORITY, model.Whom.LOWER_OR_NEWER),
    "from": (model.Whom.LOWER_PRIORITY, model.Whom.ANY),
    "to": (model.Whom.LOWER_PRIORITY,),
}
FORMS: Final = {"within": "within queue", "from": "from borrowers", "to": "to borrow"}
_COUNTS: Final = ("jobs", "waiting")


class LineReader:
    """Reads the lines of one queue."""

    def __init__(
        self, node: Queue, names: Names, resources: Resources, source: Source, found: list[Problem]
    ) -> None:
        self.node = node
        self.names = names
        self.resources = resources
        self.source = source
        self.problems = found

    def order(self) -> model.Order:
        """``order``."""
        line = self._single(Order, "order")
        if line is None:
            return model.Order.FIRST_FIT
        return self._choice(line.way, model.Order, "order") or model.Order.FIRST_FIT

    def refuses_uncovered(self) -> bool | None:
        """``uncovered``: None where nothing is said."""
        line = self._single(Uncovered, "uncovered")
        if line is None or line.way.text == "ignore":
            return None if line is None else False
        if line.way.text != "refuse":
            self._no_word(line.way, ("refuse", "ignore"), "`uncovered` is `refuse` or `ignore`")
        return True

    def deadline(self) -> model.Deadline | None:
        """``ready within``."""
        line = self._single(Deadline, "ready within")
        if line is None:
            return None
        seconds = self._number(read_duration(line.within))
        retries = None if line.retries is None else self._count(line.retries)
        return None if seconds is None else model.Deadline(seconds, retries)

    def halt(self) -> model.Halt | None:
        """``hold`` or ``drain``."""
        lines = [part for part in self.node.body if isinstance(part, Hold)]
        for second in lines[1:]:
            first, words = lines[0], {lines[0].keyword, second.keyword}
            code = "TG410" if len(words) == 2 else "TG101"
            message = f"queue `{self.node.name.text}` has `{first.keyword}` and `{second.keyword}`"
            advice = "`drain` holds, too: keep one of them"
            others = ((first.span, "the first"),)
            self.problems.append(problem(code, second.span, message, help=advice, others=others))
        if not lines:
            return None
        reason = "" if lines[0].reason is None else self._text(lines[0].reason)
        return model.Halt(lines[0].keyword == "drain", reason)

    def _text(self, text: Text) -> str:
        value, problems = read_text(text, self.source)
        self.problems += problems
        return value

    def prefer(self) -> tuple[model.Way, model.Way, model.Way]:
        """``prefer``: always a permutation of the three ways."""
        line = self._single(Prefer, "prefer")
        written = [] if line is None else [self._way(word) for word in line.ways]
        known = list(dict.fromkeys(way for way in written if way is not None))
        first, second, third = [*known, *(way for way in model.Way if way not in known)]
        if line is not None and None not in written and len(written) != len(known):
            self._twice_way(line, written, (first, second, third))
        elif line is not None and None not in written and len(known) < 3:
            missing = " ".join(f"over {way.value}" for way in (first, second, third)[len(known) :])
            message = "`prefer` names all three ways"
            advice = f"add `{missing}`"
            self.problems.append(problem("TG005", line.span, message, help=advice))
        return first, second, third

    def _twice_way(
        self, line: Prefer, written: Sequence[object], order: tuple[model.Way, ...]
    ) -> None:
        at = next(i for i, way in enumerate(written) if way in written[:i])
        word, whole = line.ways[at], " over ".join(way.value for way in order)
        message = f"`{word.text}` stands twice"
        self.problems.append(problem("TG004", word.span, message, help=f"write `prefer {whole}`"))

    def _way(self, word: Word) -> model.Way | None:
        return self._choice(word, model.Way, "way")

    def preempts(self) -> model.Preemption:
        """The ``preempt`` lines, at most one of each form."""
        lines: dict[str, Preempt] = {}
        for line in self.node.body:
            if not isinstance(line, Preempt):
                continue
            first = lines.setdefault(line.scope, line)
            if first is not line:
                form = FORMS[line.scope]
                message = f"queue `{self.node.name.text}` has two `preempt … {form}` lines"
                others = ((first.span, "the first"),)
                self.problems.append(problem("TG405", line.span, message, others=others))
        whom = {scope: self._whom(line) for scope, line in lines.items()}
        borrowing = lines.get("to")
        if borrowing is not None and "from" not in lines:
            self._needs_from(borrowing)
        below = borrowing.below if borrowing is not None else None
        return model.Preemption(
            whom.get("within"),
            whom.get("from"),
            to_borrow=borrowing is not None,
            below=None if below is None else self._priority(below),
        )

    def _needs_from(self, line: Preempt) -> None:
        message = "`preempt … to borrow` needs a `preempt … from borrowers` line beside it"
        advice = "add `preempt lower-priority from borrowers`"
        self.problems.append(problem("TG406", line.span, message, help=advice))

    def _whom(self, line: Preempt) -> model.Whom | None:
        allowed = _WHOM[line.scope]
        found = next((whom for whom in allowed if whom.value == line.whom.text), None)
        if found is None:
            words = [whom.value for whom in allowed]
            known = any(whom.value == line.whom.text for whom in model.Whom)
            text = line.whom.text
            message = f"`{text}` is not valid before `{FORMS[line.scope]}`"
            if not known:
                message = f"`{text}` is not valid here"
            self._no_word(line.whom, words, message)
        return found

    def _priority(self, word: Word) -> int | None:
        declared = self.names.priorities.get(word.text)
        if declared is None:
            self.names.unknown("priority", word)
            return None
        value = read_integer(declared.value)
        return None if isinstance(value, Problem) else value

    def limits(self) -> tuple[model.Limit, ...]:
        """The ``limit`` lines."""
        seen: dict[tuple[str, str], Span] = {}
        lines = [part for part in self.node.body if isinstance(part, Limit)]
        read = [self._limit(line, seen) for line in lines]
        return tuple(limit for limit in read if limit is not None)

    def _limit(self, line: Limit, seen: dict[tuple[str, str], Span]) -> model.Limit | None:
        label = None if line.label is None else self._text(line.label)
        whose = f"label {label}" if line.subject is None else line.subject.text
        resources: dict[str, Amount] = {}
        counts: dict[str, int] = {}
        for entry in line.entries:
            name = self._entry(entry, resources, counts)
            first = seen.setdefault((whose, name), entry.resource.span)
            if first is not entry.resource.span:
                message = f"`{entry.resource.text}` per {whose} is limited twice"
                advice = "keep the smaller one: limits combine by minimum"
                others = ((first, "first here"),)
                span = entry.resource.span
                self.problems.append(problem("TG403", span, message, help=advice, others=others))
        subject = model.Subject.LABEL
        if line.subject is not None:
            chosen = self._choice(line.subject, model.Subject, "subject")
            if chosen is None:
                return None
            subject = chosen
        return model.Limit(
            subject, label, MappingProxyType(resources), counts.get("jobs"), counts.get("waiting"),
            line.span.place,
        )  # fmt: skip

    def _entry(self, entry: Bounded, resources: dict[str, Amount], counts: dict[str, int]) -> str:
        """Read one entry; returns what it is about."""
        if entry.resource.text in _COUNTS:
            count = self._count(entry.amount, entry.resource.text)
            if count is not None:
                counts[entry.resource.text] = count
            return entry.resource.text
        resource = self.resources.resolve(entry.resource) or entry.resource.text
        amount = self._number(read_amount(entry.amount, resource))
        if amount is not None:
            resources[resource] = amount
        return resource

    def _count(self, number: Number, what: str = "") -> int | None:
        read = read_integer(number, lowest=1 if what == "jobs" else 0)
        if isinstance(read, Problem) and what == "jobs" and number.text == "0":
            message, advice = "`jobs 0` lets nobody run", "write `hold` to start nothing"
            read = problem("TG011", number.span, message, help=advice)
        return self._number(read)

    def _number(self, read: int | Problem) -> int | None:
        if isinstance(read, Problem):
            self.problems.append(read)
            return None
        return read

    def _choice(self, word: Word, choices: type[_Choice], what: str) -> _Choice | None:
        found = next((each for each in choices if each.value == word.text), None)
        if found is None:
            names = [str(each.value) for each in choices]
            self._no_word(word, names, f"there is no {what} `{word.text}`")
        return found

    def _no_word(self, word: Word, valid: Iterable[str], message: str) -> None:
        names = list(valid)
        listed = " or ".join(f"`{name}`" for name in names)
        if len(names) > 2:
            listed = ", ".join(f"`{name}`" for name in names[:-1]) + f" or `{names[-1]}`"
        advice = did_you_mean(word.text, names) or listed
        self.problems.append(problem("TG004", word.span, message, help=advice))

    def _single(self, sort: type[_Line], word: str) -> _Line | None:
        lines = [part for part in self.node.body if isinstance(part, sort)]
        for second in lines[1:]:
            others = ((lines[0].span, "the first"),)
            message = f"queue `{self.node.name.text}` has two `{word}` lines"
            self.problems.append(problem("TG101", second.span, message, others=others))
        return lines[0] if lines else None
