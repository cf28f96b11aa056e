"""Reading long answers without holding up everybody else.

A page of 500 large Jobs takes a tenth of a second to decode, and nothing else runs meanwhile: the
webhook would be late. The items of a list are therefore decoded one after the other, with pauses;
and a watch is cut into lines without a bound on the length of one.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import orjson

from webhook.cluster.errors import Unavailable
from webhook.model.kinds import Object

SLICE = 256 * 1024
"""Characters decoded between two pauses: a few milliseconds."""

_ITEMS = re.compile(r'"items"\s*:\s*\[')
_NEXT = re.compile(r"\s*(?:,\s*)?")
_decode = json.JSONDecoder().raw_decode


async def read_list(body: bytes) -> tuple[list[Object], Object]:
    """The items of a list and its metadata; raises Unavailable for what is not a list."""
    try:
        if len(body) <= SLICE:
            return _parts(orjson.loads(body))
        return await _sliced(body.decode())
    except (ValueError, RecursionError) as error:
        raise Unavailable("the answer to a list is not a list") from error


def _parts(whole: Any) -> tuple[list[Object], Object]:
    if not isinstance(whole, dict) or not isinstance(whole.get("metadata"), dict):
        raise ValueError("no list")
    return whole.get("items") or [], whole["metadata"]


async def _sliced(text: str) -> tuple[list[Object], Object]:
    """``items`` is the one long member of a list, and no metadata of a list holds that text."""
    start = _ITEMS.search(text)
    if start is None:
        return _parts(json.loads(text))
    items: list[Object] = []
    here = pause = start.end()
    while text[(here := _after(text, here))] != "]":
        item, here = _decode(text, here)
        items.append(item)
        if here - pause > SLICE:
            pause = here
            await asyncio.sleep(0)
    _, meta = _parts(json.loads(text[: start.end()] + text[here:]))
    return items, meta


def _after(text: str, here: int) -> int:
    """Past white space and a comma; raises ValueError where the text ends."""
    match = _NEXT.match(text, here)
    here = match.end() if match else here
    if here >= len(text):
        raise ValueError("the list does not end")
    return here


async def lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Whole lines, however long; a last one without its end is dropped, since it was cut off."""
    begun: list[bytes] = []
    async for piece in pieces:
        head, *whole = piece.split(b"\n")
        begun.append(head)
        for line in whole:
            finished = b"".join(begun)
            begun = [line]
            if finished.strip():
                yield finished
