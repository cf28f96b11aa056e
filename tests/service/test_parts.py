"""Jobs that start with fewer pods than asked, written by the loop as the core decided."""

from __future__ import annotations

import json

from tests.service.stage import job, stage

POLICY = """
queue a {
  quota { cpu 4 }
}
"""


def elastic(name: str, pods: int, fewest: int, at: float = 0):
    made = job(name, at=at, parallelism=pods, completions=20)
    made["metadata"]["annotations"]["tidegate.dev/min-parallelism"] = str(fewest)
    return made


async def test_it_starts_with_what_fits_and_notes_what_was_asked(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(job("r", at=0))
        await s.until_started("r")
        before = await s.create(elastic("part", 8, 2, at=1))
        await s.until_started("r", "part")
        after = await s.get("part")
        assert (after["spec"]["parallelism"], after["spec"]["completions"]) == (3, 20)
        notes = after["metadata"]["annotations"]
        assert json.loads(notes["tidegate.dev/wanted"]) == {"parallelism": 8}
        assert json.loads(notes["tidegate.dev/admission"])["podSets"][0]["count"] == 3
        assert after["metadata"]["generation"] == before["metadata"]["generation"] + 1, "one write"
        assert s.used() == 4


async def test_what_it_still_asks_for_is_charged_to_nobody(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(job("r", at=0))
        await s.until_started("r")
        await s.create(elastic("part", 4, 2, at=1))
        await s.until_started("r", "part")
        await s.finish("r")
        await s.create(job("next", at=2))
        await s.until_started("r", "part", "next")
        assert s.used() == 4


WITHOUT_LEAST = {"metadata": {"annotations": {"tidegate.dev/min-parallelism": None}}}
"""From then on the rest is asked for in one piece, which does not fit."""


async def test_what_it_still_asks_for_stands_in_nobodys_way(tmp_path):
    strict = POLICY.replace("cpu 4 }", "cpu 4 }\n  order strict")
    async with stage(tmp_path, strict) as s:
        await s.create(job("r", at=0))
        await s.until_started("r")
        await s.create(elastic("part", 8, 2, at=1))
        await s.until_started("r", "part")
        await s.change("part", WITHOUT_LEAST)
        await s.finish("r")
        await s.create(job("next", at=2))
        await s.until_started("r", "part", "next")
        assert s.used() == 4
