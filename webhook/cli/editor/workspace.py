"""All files of a policy as an editor sees them: buffers where they are open, disk elsewhere.

A ``Workspace`` is read once after a change and asked many times. A file that did not change is not parsed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from webhook.language.check import lint_parsed
from webhook.language.parse import Parsed, parse
from webhook.language.policy import Policy
from webhook.language.problems import Problem
from webhook.language.syntax import File, Source


@dataclass(frozen=True, slots=True)
class Workspace:
    """The files of one policy, in the order in which it reads them."""

    files: tuple[File, ...]
    problems: tuple[Problem, ...]
    policy: Policy | None
    """None where there are errors."""
    sources: Mapping[str, Source] = field(repr=False)

    @property
    def complete(self) -> bool:
        """False where some text could not be read, so that names in it are not known."""
        return not any(file.unread for file in self.files)

    def file(self, path: str) -> File | None:
        """The file of that path."""
        return next((file for file in self.files if file.path == path), None)


def read_workspace(texts: Sequence[tuple[str, str]], *, flaws: Sequence[Problem] = ()) -> Workspace:
    """Path and text of every file; ``flaws`` are files that are not UTF-8."""
    flawed = {flaw.span.path for flaw in flaws}
    parsed = [_parsed("" if path in flawed else text, path) for path, text in texts]
    policy, problems = lint_parsed(parsed, flaws=flaws)
    files = tuple(each.file for each in parsed)
    return Workspace(files, problems, policy, {file.path: file.source for file in files})


@lru_cache(maxsize=1024)
def _parsed(text: str, path: str) -> Parsed:
    return parse(text, path=path)
