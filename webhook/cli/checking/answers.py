"""One object and what would become of it; and what of that is the same in every format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webhook.model.kinds import Object
from webhook.rehearsal.manifests import Manifest
from webhook.rehearsal.verdict import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Answer:
    """A manifest and its fate."""

    manifest: Manifest
    verdict: Verdict

    @property
    def title(self) -> str:
        """``Job team-a/train``; a name that the API server is to complete ends with ``*``."""
        request = self.verdict.submitted.request
        return f"{request.kind} {request.namespace}/{name_of(self.manifest.object)}"


def name_of(obj: Object) -> str:
    """Its name, or the beginning of one."""
    about = obj["metadata"]
    return str(about.get("name") or f"{about.get('generateName')}*")


def summary(answers: Sequence[Answer]) -> str:
    """``4 objects: 2 queued, 1 refused, 1 ignored``."""
    outcomes = [each.verdict.outcome for each in answers]
    counts = [(kind, outcomes.count(kind)) for kind in Outcome]
    parts = ", ".join(f"{count} {kind.value}" for kind, count in counts if count)
    return f"{len(answers)} {'object' if len(answers) == 1 else 'objects'}: {parts}"
