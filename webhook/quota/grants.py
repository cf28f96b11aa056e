"""What we have granted and no sight has shown yet, and which of a write and a sight came first."""

from __future__ import annotations

from dataclasses import dataclass

from webhook.model.workload import Admission, Uid, Workload


@dataclass(slots=True)
class Grant:
    """A start of ours that no sight has shown yet. ``latest`` is the last sight of it, waiting.

    If it is the growth of a started one, ``grown`` is the record that will show it, ``of`` its uid.
    """

    admission: Admission
    latest: Workload
    of: Uid
    grown: Admission | None = None
    version: str | None = None

    def is_undone_by(self, sight: Workload) -> bool:
        """Whether the sight is later than the write, so that it waits again."""
        return is_later(sight, self.version)


def is_later(sight: Workload, version: str | None) -> bool:
    """Whether a sight came after that write of ours."""
    return version is not None and is_older(version, sight.resource_version)


def is_older(version: str, than: str) -> bool:
    """Whether one resource version comes before another; False where they do not compare."""
    return version.isdecimal() and than.isdecimal() and int(version) < int(than)
