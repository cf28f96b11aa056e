"""The tree of a policy file: what was written, each part with its place, nothing judged yet.

Frozen values. A span does not count in equality, so two texts that say the same are equal trees: the formatter and
the tests rest on that. Names, amounts and words are kept as written; the checker reads them, because only it knows
what stands where (``64GB`` beside memory, ``Vision`` as a name). Queues, kinds and tests have modules of their own;
whoever reads trees imports all from here.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from webhook.language.leaves import Bound, Number, Path, Source, Span, Text, Word
from webhook.language.records import dataclass
from webhook.language.syntax_kinds import (
    Api,
    Children,
    FieldPath,
    InKind,
    KindOf,
    Measure,
    PodsFrom,
    PodsFromChild,
    State,
)
from webhook.language.syntax_queues import (
    Accept,
    Block,
    Bounded,
    Cohort,
    Deadline,
    Hold,
    InQueue,
    Limit,
    Order,
    Preempt,
    Prefer,
    Queue,
    Share,
    Sharing,
    Uncovered,
    Weight,
)
from webhook.language.syntax_tests import (
    By,
    Clause,
    Expect,
    ExpectIgnored,
    ExpectPreempts,
    ExpectQueue,
    ExpectRefused,
    ExpectRule,
    ExpectSet,
    ExpectStarts,
    ExpectWaiting,
    GivenNamespace,
    GivenQueue,
    Groups,
    InNamespace,
    InTest,
    Label,
    Labels,
    OfPriority,
    On,
    Pods,
    Submit,
    SubmitFile,
    Test,
)

if TYPE_CHECKING:  # conditions have spans, too
    from webhook.language.expression import Expression

__all__ = [
    "Accept",
    "Alias",
    "Api",
    "Assignment",
    "Block",
    "Bound",
    "Bounded",
    "By",
    "Children",
    "Clause",
    "Cohort",
    "Comment",
    "Deadline",
    "Deny",
    "Expect",
    "ExpectIgnored",
    "ExpectPreempts",
    "ExpectQueue",
    "ExpectRefused",
    "ExpectRule",
    "ExpectSet",
    "ExpectStarts",
    "ExpectWaiting",
    "FieldPath",
    "File",
    "Flavor",
    "GivenNamespace",
    "GivenQueue",
    "Groups",
    "Hold",
    "InKind",
    "InNamespace",
    "InQueue",
    "InTest",
    "KindOf",
    "Label",
    "Labels",
    "Limit",
    "Measure",
    "Mode",
    "Node",
    "Number",
    "OfPriority",
    "On",
    "Order",
    "Otherwise",
    "Path",
    "Pods",
    "PodsFrom",
    "PodsFromChild",
    "Preempt",
    "Prefer",
    "Priority",
    "Queue",
    "QueueLabel",
    "Route",
    "Rule",
    "Set",
    "Settings",
    "Share",
    "Sharing",
    "Source",
    "Span",
    "State",
    "Statement",
    "Submit",
    "SubmitFile",
    "Test",
    "Text",
    "Tolerate",
    "Uncovered",
    "Warn",
    "Weight",
    "Word",
]


@dataclass(frozen=True, slots=True)
class Alias:
    """``resource gpu = nvidia.com/gpu``."""

    name: Word
    resource: Word
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Node:
    """``node "key" = "value"`` in a flavor."""

    key: Text
    value: Text
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Tolerate:
    """``tolerate "key" = "value" : NoSchedule`` in a flavor."""

    key: Text
    value: Text | None
    effect: Word | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Flavor:
    """``flavor a100 { … }``."""

    name: Word
    landings: tuple[Node | Tolerate, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Priority:
    """``priority normal 100 default``."""

    name: Word
    value: Number
    default: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Route:
    """``route vision for Job when … to vision audit``."""

    name: Word | None
    kinds: tuple[Word, ...]
    condition: Expression | None
    queue: Word
    audit: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Otherwise:
    """``route otherwise to QUEUE | deny TEXT | ignore``; neither queue nor message is ``ignore``."""

    queue: Word | None
    message: Text | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Deny:
    """``deny too-big for Job when … { message "…" }``."""

    name: Word
    kinds: tuple[Word, ...]
    condition: Expression
    audit: bool
    message: Text
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Warn:
    """``warn large for Job when … { message "…" }``."""

    name: Word
    kinds: tuple[Word, ...]
    condition: Expression
    audit: bool
    message: Text
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assignment:
    """``spec.ttlSecondsAfterFinished = 86400`` in a set."""

    path: Path
    value: Expression
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Set:
    """``set tidy for Job when … { PATH = EXPRESSION … }``."""

    name: Word
    kinds: tuple[Word, ...]
    condition: Expression | None
    audit: bool
    assignments: tuple[Assignment, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Mode:
    """``mode audit`` in the settings."""

    mode: Word
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class QueueLabel:
    """``queue-label "KEY" …`` in the settings."""

    keys: tuple[Text, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """``settings { … }``."""

    body: tuple[Mode | QueueLabel, ...]
    span: Span = field(compare=False, repr=False)


Statement: TypeAlias = (
    Alias
    | Flavor
    | Priority
    | Cohort
    | Queue
    | Route
    | Otherwise
    | Deny
    | Warn
    | Set
    | KindOf
    | Settings
    | Test
)
Rule: TypeAlias = Route | Deny | Warn | Set
"""What has a name of the rules' set."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, from ``#`` to the end of its line."""

    text: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class File:
    """One file. ``unread`` are the stretches whose mistakes kept them from being read."""

    path: str
    statements: tuple[Statement, ...]
    comments: tuple[Comment, ...]
    source: Source = field(compare=False, repr=False)
    unread: tuple[Span, ...] = field(default=(), compare=False, repr=False)
    unbalanced: bool = field(default=False, compare=False)
    """True where braces do not match, so that nobody knows what stands in which block."""

    @property
    def text(self) -> str:
        """The text it was read from."""
        return self.source.text
