"""Suggestions for a word nobody knows: the nearest of those that may stand there, else a known synonym."""

from __future__ import annotations

from collections.abc import Iterable

from webhook.language.words import SYNONYMS

LONGEST = 63
_FALSE_FRIENDS = frozenset({("gpu", "cpu"), ("gpus", "cpu"), ("gpus", "cpus")})
"""Near in letters only."""


def suggest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that was probably meant, or None."""
    names = list(dict.fromkeys(candidates))
    if word.lower() in names and word != word.lower():
        return word.lower()
    near = _nearest(word, [name for name in names if (word, name) not in _FALSE_FRIENDS])
    if near is not None:
        return near
    meant = SYNONYMS.get(word)
    return meant if meant in names else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """The same as the text of a help; "" where there is none."""
    meant = suggest(word, candidates)
    return f"did you mean `{meant}`?" if meant else ""


def _nearest(word: str, names: list[str]) -> str | None:
    bound = max(1, len(word) // 3)
    if len(word) < 3 or len(word) > LONGEST:
        bound = 1 if len(word) == 2 else 0
    scored = [(distance(word, name, bound), name) for name in names]
    best = min(scored, default=(bound + 1, ""))
    return best[1] if best[0] <= bound else None


def distance(left: str, right: str, bound: int) -> int:
    """Edits that make one of the other, two neighbours swapped counting one; more than ``bound`` counts as that + 1."""
    if abs(len(left) - len(right)) > bound:
        return bound + 1
    before_last: list[int] = []
    last: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        before_last, last, row = last, row, [i]
        for j, b in enumerate(right, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before_last[j - 2] + 1)
            row.append(cost)
    return row[-1]
