"""All files of a policy as an editor sees them: buffers where they are open, disk elsewhere.

A ``Workspace`` is made after a change and asked many times. A file that did not change is not parsed again, and the
policy is checked only when somebody asks for problems or numbers: completion does not wait for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

from webhook.language.check import lint_parsed
from webhook.language.parse import Parsed, parse
from webhook.language.policy import Policy
from webhook.language.problems import Problem
from webhook.language.syntax import File, Source


class Workspace:
    """The files of one policy, in the order in which it reads them."""

    def __init__(self, parsed: Sequence[Parsed], flaws: Sequence[Problem]) -> None:
        self._parsed = parsed
        self._flaws = flaws
        self.files: tuple[File, ...] = tuple(each.file for each in parsed)
        self.sources: Mapping[str, Source] = {file.path: file.source for file in self.files}

    @property
    def policy(self) -> Policy | None:
        """None where there are errors."""
        return self._judged[0]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything there is to say, in the order of the files."""
        return self._judged[1]

    def file(self, path: str) -> File | None:
        """The file of that path."""
        return next((file for file in self.files if file.path == path), None)

    @cached_property
    def _judged(self) -> tuple[Policy | None, tuple[Problem, ...]]:
        return lint_parsed(self._parsed, flaws=self._flaws)


def read_workspace(texts: Sequence[tuple[str, str]], *, flaws: Sequence[Problem] = ()) -> Workspace:
    """Path and text of every file; ``flaws`` are files that are not UTF-8."""
    flawed = {flaw.span.path for flaw in flaws}
    parsed = [_parsed("" if path in flawed else text, path) for path, text in texts]
    return Workspace(parsed, flaws)


@lru_cache(maxsize=1024)
def _parsed(text: str, path: str) -> Parsed:
    return parse(text, path=path)
