"""One update of a managed object, before and after, and what of it costs quota."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webhook.admission.kinship import Kinship
from webhook.admission.knowledge import Knowledge
from webhook.admission.review import Request
from webhook.admission.rules import Rules
from webhook.admission.subject import Subject, scope_of
from webhook.language.conditions import Scope
from webhook.model.kinds import Key, Object
from webhook.workloads.objects import is_deleting, is_true, labels, mapping, notes
from webhook.workloads.registry import ADAPTERS

MARKS = (Key.SUBMITTED, Key.SUBMITTED_BY, Key.ADMISSION, Key.EVICTED, Key.WANTED)
"""Annotations that only the webhook and the loop write."""


@dataclass(frozen=True, slots=True)
class Change:
    """The request, the two states of the object, and whose business it is: an update makes no child and no root."""

    request: Request
    old: Subject
    new: Subject
    kinship: Kinship
    parent: Object | None
    rules: Rules
    knowledge: Knowledge

    @property
    def queue(self) -> str:
        """The queue it is in, or asks to be in: where the label is gone, and on its way out, the one it was in."""
        if is_deleting(self.old.object):
            return self.old.queue or ""
        return self.new.queue if self.new.queue is not None else self.old.queue or ""

    @property
    def moves(self) -> bool:
        """Whether it asks for another queue."""
        return self.queue != self.old.queue

    @property
    def written_whole(self) -> bool:
        """Whether the label went with every mark: a manifest was put in the object's place, nothing was cut out."""
        before, after = notes(self.old.object), notes(self.new.object)
        return Key.SUBMITTED in before and not any(key in before and key in after for key in MARKS)

    @property
    def costs(self) -> bool:
        """Whether labels or spec change, the suspend field apart; what changes neither costs nothing."""
        old, new = self.old.object, self.new.object
        return labels(old) != labels(new) or _spec(old) != _spec(new)

    @property
    def may_start(self) -> bool:
        """Whether this edit may turn suspend off: only a child may be started so, by its parent, once that started."""
        parent = self.parent
        if parent is None or self.outgrows:
            return False
        waits = mapping(parent, "spec").get("suspend") is True
        return not waits and not is_deleting(parent) and not is_true(parent, "Completed", "Failed")

    @property
    def waits(self) -> bool:
        """Whether it will wait, once what this edit says of suspend is put back."""
        return self.new.waiting or (self.old.waiting and not self.may_start)

    @property
    def outgrows(self) -> bool:
        """Whether a suspended child asks for more than its parent's template; what runs is held to what it has."""
        parent = self.parent
        if parent is None or not self.old.waiting:
            return False
        maker, here = ADAPTERS[str(parent.get("kind"))], self.new
        return not maker.makes(parent, here.object, here.adapter.kind)

    def scope(self, subject: Subject) -> Scope:
        """What conditions may read of one of the two states."""
        return scope_of(self.request, subject, self.knowledge, self.old.object)


def _spec(obj: Object) -> Mapping[str, Any]:
    return {key: value for key, value in mapping(obj, "spec").items() if key != "suspend"}
