"""A day of work of four teams, written for ``policies/examples``: who submits what, and when.

Deterministic: the same seed and length give the same day. Sizes fit the policy, but for a few that
are refused on purpose. The day is twelve hours long and pressed into a minute; one of fewer seconds
has fewer hours and fewer workloads, so that queues fill in any case.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from webhook.cli.demonstration.manifests import Pods, Title, job, jobset
from webhook.model.kinds import JOB, JOBSET, Kind, Object

QUEUES = ("vision", "speech", "etl", "web")
NAMESPACES = {f"team-{queue}": queue for queue in QUEUES}
"""Namespace → the team that works in it."""
OPENS, HOURS = 8, 12
"""The day begins at eight and lasts twelve hours."""
FULL_SECONDS = 60.0
LAST = 0.85
"""After this part of the day nobody submits any more."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One workload: at which part of the day (0 to 1), what, and whether it is meant to be refused."""

    at: float
    object: Object
    doomed: bool = False

    @property
    def kind(self) -> Kind:
        return JOBSET if self.object["kind"] == JOBSET.name else JOB

    @property
    def namespace(self) -> str:
        return str(self.object["metadata"]["namespace"])

    @property
    def name(self) -> str:
        return str(self.object["metadata"]["name"])


def clock_text(hours: float) -> str:
    """``14:30``, so many hours after the beginning; what lasts longer runs into the night."""
    minutes = int((OPENS + hours) * 60)
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}"


def hour_seconds(seconds: float) -> float:
    """How long an hour lasts in a day of so many seconds."""
    return seconds / (HOURS * _share(seconds))


def _share(seconds: float) -> float:
    """A day shorter than a minute has fewer hours, so that each can still be seen."""
    return min(1.0, max(0.25, seconds / FULL_SECONDS))


def workday(*, seed: int, seconds: float) -> tuple[Submission, ...]:
    """The whole day in order; ``seconds`` is how long it takes."""
    rng = random.Random(seed)  # noqa: S311 - the same day again, no secret
    day = _Day(rng, _share(seconds), hour_seconds(seconds))
    every = [*day.vision(), *day.speech(), *day.etl(), *day.web(), *day.refused()]
    return tuple(sorted(every, key=lambda one: (one.at, one.namespace, one.name)))


@dataclass(slots=True)
class _Day:
    """``hour``: the seconds an hour of work takes."""

    rng: random.Random
    share: float
    hour: float

    def vision(self) -> Iterator[Submission]:
        """Trains all day, most of it in the morning, more than is its own."""
        for number, at in enumerate(self._times(34, early=True)):
            hours = self._hours(0.5, 1.8)
            if number % 4 == 3:
                pods = self._gpus(
                    "workers", self.rng.choice((2, 4)), self.rng.choice((1, 2)), hours
                )
                parts = [self._cpus("driver", 1, "1", "2Gi", hours), pods]
                yield Submission(at, jobset(self._title("vision", "finetune", number), parts))
            else:
                name, count, gpus = self.rng.choice(_VISION)
                pods = self._gpus("main", count, gpus, hours)
                yield Submission(at, job(self._title("vision", name, number), pods))

    def speech(self) -> Iterator[Submission]:
        """Large JobSets in a strict queue, from noon on."""
        for number, at in enumerate(self._times(18, early=False)):
            name, count, gpus = self.rng.choice(_SPEECH)
            hours = self._hours(0.5, 1.2)
            parts = [
                self._cpus("leader", 1, "2", "4Gi", hours),
                self._gpus("workers", count, gpus, hours),
            ]
            yield Submission(at, jobset(self._title("speech", name, number), parts))

    def etl(self) -> Iterator[Submission]:
        """Processors only, in several rounds: a Job gives back what its last pods leave."""
        for number, at in enumerate(self._times(32, early=None)):
            name, count, cpu, memory = self.rng.choice(_ETL)
            rounds = self.rng.choice((1, 1, 2))
            pods = self._cpus("main", count, cpu, memory, self._hours(0.4, 1.2) / rounds)
            title = self._title("etl", name, number)
            yield Submission(at, job(title, pods, rounds=rounds))

    def web(self) -> Iterator[Submission]:
        """Small and often."""
        for number, at in enumerate(self._times(28, early=None)):
            name, count, cpu, memory = self.rng.choice(_WEB)
            pods = self._cpus("main", count, cpu, memory, self._hours(0.3, 0.9))
            yield Submission(at, job(self._title("web", name, number), pods))

    def refused(self) -> Iterator[Submission]:
        """Mistakes of every kind; each gets its answer at the door."""
        hours = 1.0
        typo = Title("team-vision", "train-typo", "vision", queue="visoin")
        giant = Title("team-etl", "ingest-everything", "etl")
        greedy = Title("team-vision", "train-everything", "vision")
        astray = Title("team-web", "index-by-gpu", "web")
        nobody = Title("team-speech", "whose-is-this", None)
        for at, title, pods in (
            (0.10, typo, self._gpus("main", 1, 1, hours)),
            (0.25, giant, self._cpus("main", 16, "4", "4Gi", hours)),
            (0.42, greedy, self._gpus("main", 4, 4, hours)),
            (0.60, astray, self._gpus("main", 1, 1, hours)),
            (0.78, nobody, self._cpus("main", 1, "1", "1Gi", hours)),
        ):
            yield Submission(at, job(title, pods), doomed=True)

    def _times(self, count: int, *, early: bool | None) -> list[float]:
        """When the workloads of a team come; ``early`` None: all through the day."""
        mode = {True: 0.15, False: 0.6, None: 0.5}[early]
        number = max(3, round(count * self.share))
        return sorted(self.rng.triangular(0.01, LAST, mode * LAST) for _ in range(number))

    def _hours(self, least: float, most: float) -> float:
        return self.rng.uniform(least, most)

    def _title(self, team: str, name: str, number: int) -> Title:
        priority = self.rng.choices((None, "urgent", "scavenger"), (6, 1, 2))[0]
        return Title(f"team-{team}", f"{name}-{number + 1:02}", team, priority)

    def _cpus(self, name: str, count: int, cpu: str, memory: str, hours: float) -> Pods:
        return Pods(count, {"cpu": cpu, "memory": memory}, hours * self.hour, name)

    def _gpus(self, name: str, count: int, gpus: int, hours: float) -> Pods:
        """With the processors and the memory that go with them."""
        requests = {
            "nvidia.com/gpu": str(gpus),
            "cpu": str(2 * gpus),
            "memory": f"{12 * gpus}Gi",
        }
        return Pods(count, requests, hours * self.hour, name)


_VISION = (("train", 4, 1), ("train", 8, 1), ("eval", 1, 1), ("eval", 2, 1), ("segment", 1, 4))
_SPEECH = (("pretrain", 4, 2), ("align", 2, 1), ("align", 3, 1), ("voices", 2, 2))
_ETL = (("ingest", 4, "2", "4Gi"), ("compact", 2, "3", "8Gi"), ("report", 1, "2", "2Gi"))
_WEB = (("thumbnails", 4, "1", "2Gi"), ("index", 2, "2", "4Gi"), ("mailing", 1, "500m", "1Gi"))
