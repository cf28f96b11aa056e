"""List, then watch, for ever: the one place that knows how watches break.

A consumer sees three things: an object was seen, an object is gone, the list is whole. All that
can happen on the way is handled here: an expired version (410, as a status or inside a stream
that began with 200), streams that end at once and say nothing, a peer that is silent because it is
dead, lines cut in the middle, events out of order, 5xx. After any doubt the list is read again
and what vanished meanwhile is reported as gone. A kind that is not served counts as an empty list:
its CRD may be installed later.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field

import orjson

from webhook.cluster.client import Client, list_path
from webhook.cluster.decode import lines
from webhook.cluster.errors import ApiError, Gone, NotFound, Unavailable, error_of_status
from webhook.model import event as say
from webhook.model.kinds import Kind, Object

log = logging.getLogger(__name__)

Trim = Callable[[Object], Object]
Trouble = Callable[[Kind, ApiError], None]


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a watch lasts and how patience grows, in seconds; tests make it short."""

    watch: tuple[float, float] = (240.0, 300.0)
    """A stream is asked to last a random time between these: replicas must not list in step."""
    margin: float = 15.0
    """A stream that lasts longer than asked by this much is taken for dead."""
    first_delay: float = 0.25
    longest_delay: float = 30.0
    absent: float = 30.0
    """Until a kind that is not served is asked for again."""
    resumes: int = 2
    """So often a stream that brought nothing is resumed before the list is read again."""


def as_is(obj: Object) -> Object:
    """Keep the whole object."""
    return obj


def ignore_trouble(kind: Kind, error: ApiError) -> None:
    """The watch logs trouble itself."""


@dataclass(slots=True)
class Memory:
    """What was reported, so that the past is not taken for the present."""

    objects: dict[str, Object] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    version: str = ""

    LONGEST = 4096

    def is_news(self, obj: Object) -> bool:
        """False for what is older than what was reported, or than its deletion."""
        uid, version = uid_of(obj), version_of(obj)
        known = self.objects.get(uid)
        return version > self.gone.get(uid, -1) and (known is None or version >= version_of(known))

    def keep(self, obj: Object) -> None:
        """Remember it as reported."""
        self.gone.pop(uid_of(obj), None)
        self.objects[uid_of(obj)] = obj

    def bury(self, obj: Object) -> bool:
        """Remember its end; False if something newer is known or its end is."""
        uid = uid_of(obj)
        if not self.is_news(obj):
            return False
        self.objects.pop(uid, None)
        self.gone[uid] = version_of(obj)
        while len(self.gone) > self.LONGEST:
            del self.gone[next(iter(self.gone))]
        return True

    def vanished(self, listed: set[str]) -> list[Object]:
        """Take out, and return, what a whole list no longer has."""
        missing = [uid for uid in self.objects if uid not in listed]
        return [self.objects.pop(uid) for uid in missing]


def uid_of(obj: Object) -> str:
    """Its uid: names are used again, uids are not."""
    return str(obj["metadata"].get("uid", ""))


def version_of(obj: Object) -> int:
    """Its resource version as a number; 0 where it is none, so that it always counts as news."""
    text = obj["metadata"].get("resourceVersion", "")
    return int(text) if isinstance(text, str) and text.isdecimal() else 0


@dataclass(slots=True)
class Patience:
    """Growing, jittered delays between attempts that bring nothing."""

    pace: Pace
    failures: int = 0

    async def wait(self) -> None:
        """The next delay."""
        bound = min(self.pace.longest_delay, self.pace.first_delay * 2.0**self.failures)
        self.failures = min(self.failures + 1, 30)
        await asyncio.sleep(bound * random.uniform(0.5, 1.0))  # noqa: S311 - jitter is no secret

    def reset(self) -> None:
        """Something came through."""
        self.failures = 0


async def list_then_watch(
    client: Client,
    kind: Kind,
    *,
    namespace: str = "",
    label_selector: str = "",
    trim: Trim = as_is,
    pace: Pace | None = None,
    on_trouble: Trouble = ignore_trouble,
) -> AsyncGenerator[say.Event, None]:
    """Every event of the kind until the consumer stops. Never raises ApiError.

    ``trim`` reduces an object to what the consumer needs; uid, name and version must stay.
    """
    source = _Source(client, kind, namespace, label_selector, trim, pace or Pace())
    while True:
        try:
            async for event in source.cycle():
                yield event
        except NotFound:
            for event in source.absent():
                yield event
            await asyncio.sleep(source.pace.absent)
        except ApiError as error:
            level = logging.INFO if isinstance(error, Gone) else logging.WARNING
            log.log(level, "watch of %s: %s", kind.resource, error.describe())
            on_trouble(kind, error)
            await source.patience.wait()


@dataclass(slots=True)
class _Source:
    client: Client
    kind: Kind
    namespace: str
    label_selector: str
    trim: Trim
    pace: Pace
    memory: Memory = field(default_factory=Memory)
    fruitful: bool = False
    patience: Patience = field(init=False)

    def __post_init__(self) -> None:
        self.patience = Patience(self.pace)

    async def cycle(self) -> AsyncIterator[say.Event]:
        """One list, and streams from there until they bring nothing time and again."""
        async for event in self.listing():
            yield event
        barren = 0
        while barren <= self.pace.resumes:
            async for event in self.stream():
                yield event
            if self.fruitful:
                barren = 0
                self.patience.reset()
            else:
                barren += 1
                await self.patience.wait()

    async def listing(self) -> AsyncIterator[say.Event]:
        """Everything there is, then what vanished since the last list, then that it is whole."""
        listed: set[str] = set()
        version = ""
        async for page in self.client.pages(
            self.kind, namespace=self.namespace, label_selector=self.label_selector
        ):
            version = version or page.resource_version
            for raw in page.items:
                obj = self._read(raw)
                listed.add(uid_of(obj))
                self.memory.keep(obj)
                yield say.Seen(self.kind, obj)
        for obj in self.memory.vanished(listed):
            yield say.Gone(self.kind, obj)
        self.memory.version = version
        yield say.Synced(self.kind, version)

    def absent(self) -> list[say.Event]:
        """The kind is not served: nothing of it exists."""
        gone = [say.Gone(self.kind, obj) for obj in self.memory.vanished(set())]
        return [*gone, say.Synced(self.kind, "")]

    async def stream(self) -> AsyncIterator[say.Event]:
        """One watch. A break after something came is an end like any other; else it raises."""
        self.fruitful = False
        asked = random.uniform(*self.pace.watch)  # noqa: S311 - jitter is no secret
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async for event in self._events(asked):
                yield event
        except Unavailable:
            if not self.fruitful:
                raise
        self.fruitful = self.fruitful or clock() - began >= asked / 2

    async def _events(self, asked: float) -> AsyncIterator[say.Event]:
        path = list_path(self.kind, self.namespace)
        async with self.client.stream(
            path, self._query(asked), seconds=asked + self.pace.margin
        ) as pieces:
            async for line in lines(pieces):
                event = self._event(line)
                self.fruitful = True
                if event is not None:
                    yield event

    def _query(self, asked: float) -> dict[str, str]:
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(max(1, round(asked))),
            "resourceVersion": self.memory.version,
        }
        return query | ({"labelSelector": self.label_selector} if self.label_selector else {})

    def _event(self, line: bytes) -> say.Event | None:
        """One line; None where it is no news. Raises for ERROR, whose object is a Status."""
        kind, raw = _decoded(line)
        if kind == "ERROR":
            raise error_of_status(raw)
        if not isinstance(raw.get("metadata"), dict):
            raise Unavailable("a watch event without metadata")
        self.memory.version = str(raw["metadata"].get("resourceVersion") or self.memory.version)
        if kind == "BOOKMARK":
            return None
        obj = self._read(raw)
        if kind == "DELETED":
            return say.Gone(self.kind, obj) if self.memory.bury(obj) else None
        if not self.memory.is_news(obj):
            return None
        self.memory.keep(obj)
        return say.Seen(self.kind, obj)

    def _read(self, raw: Object) -> Object:
        """The object as consumers get it: items of lists lack their kind; nobody needs managers."""
        raw["metadata"].pop("managedFields", None)
        raw.setdefault("apiVersion", self.kind.api_version)
        raw.setdefault("kind", self.kind.name)
        return self.trim(raw)


def _decoded(line: bytes) -> tuple[str, Object]:
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise Unavailable("a watch event that is not JSON") from error
    if not isinstance(event, dict) or not isinstance(event.get("object"), dict):
        raise Unavailable("a watch event without an object")
    return str(event.get("type")), event["object"]
