"""The policy follows its files, whole or not at all, and is loud when it cannot."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from webhook.service.policies import PolicySource, PolicyTrouble
from webhook.service.policy_files import read_policy_files

GOOD = "queue a {\n  quota { cpu 1 }\n}\n"
BROKEN = "queue a {\n  quoota { cpu 1 }\n}\n"


def queue(name: str, cpu: int = 1) -> str:
    return f"queue {name} {{\n  quota {{ cpu {cpu} }}\n}}\n"


def mount(root: Path, version: str, files: dict[str, str]) -> None:
    """What the kubelet does: a new directory, and `..data` is moved to it in one step."""
    (root / version).mkdir(parents=True)
    for name, text in files.items():
        (root / version / name).write_text(text)
        if not (root / name).is_symlink():
            (root / name).symlink_to(f"..data/{name}")
    fresh = root / "..data_tmp"
    fresh.symlink_to(version)
    fresh.rename(root / "..data")


def queues(source: PolicySource) -> set[str]:
    assert source.current is not None
    return set(source.current.quotas.queues)


async def test_the_first_load_of_a_broken_policy_puts_nothing_in_force(tmp_path):
    (tmp_path / "a.tide").write_text(BROKEN)
    source = PolicySource([tmp_path])
    with pytest.raises(PolicyTrouble, match=r"quoota") as caught:
        await source.load()
    assert source.current is None
    assert "a.tide:2" in caught.value.text


async def test_a_statement_that_is_not_obeyed_yet_is_refused_with_its_place(tmp_path):
    (tmp_path / "a.tide").write_text(
        "queue a {\n  quota { cpu 1 }\n  limit cpu 1 per user\n  hold\n}\n"
        "settings {\n  mode enforce\n}\n"
    )
    source = PolicySource([tmp_path])
    with pytest.raises(PolicyTrouble) as caught:
        await source.load()
    assert source.current is None
    assert "a.tide:3: this version does not obey `limit` yet" in caught.value.text
    assert "a.tide:4: this version does not obey `hold` yet" in caught.value.text
    assert "mode" not in caught.value.text


async def test_what_is_not_obeyed_leaves_the_last_good_policy_in_force(tmp_path):
    (tmp_path / "a.tide").write_text(GOOD)
    source = PolicySource([tmp_path])
    await source.load()
    (tmp_path / "a.tide").write_text(GOOD.replace("}\n}", "}\n  drain\n}"))
    assert not await source.poll()
    assert queues(source) == {"a"}
    assert source.stale is not None
    assert "`drain`" in source.stale.text


async def test_paths_without_a_policy_are_trouble(tmp_path):
    with pytest.raises(PolicyTrouble, match=r"no \.tide file"):
        await PolicySource([tmp_path]).load()
    with pytest.raises(PolicyTrouble, match="nowhere"):
        await PolicySource([tmp_path / "nowhere"]).load()


async def test_a_swapped_mount_is_noticed_time_and_again(tmp_path):
    mount(tmp_path, "..t0", {"a.tide": queue("a0"), "b.tide": queue("b0")})
    source = PolicySource([tmp_path])
    await source.load()
    for n in range(1, 6):
        mount(tmp_path, f"..t{n}", {"a.tide": queue(f"a{n}"), "b.tide": queue(f"b{n}")})
        assert await source.poll()
        assert queues(source) == {f"a{n}", f"b{n}"}


async def test_a_swap_to_the_same_content_is_no_change(tmp_path):
    mount(tmp_path, "..t0", {"a.tide": GOOD})
    source = PolicySource([tmp_path])
    before = await source.load()
    mount(tmp_path, "..t1", {"a.tide": GOOD})
    assert not await source.poll()
    assert source.current is before


async def test_a_swap_during_the_read_never_mixes_old_and_new(tmp_path):
    mount(tmp_path, "..t0", {"a.tide": queue("a0"), "b.tide": queue("b0")})
    swapped = False

    def read(roots):
        """The first file of the first reading is old, the rest is new."""
        nonlocal swapped
        files = read_policy_files(roots)
        if swapped:
            return files
        swapped = True
        mount(tmp_path, "..t1", {"a.tide": queue("a1"), "b.tide": queue("b1")})
        return (files[0], read_policy_files(roots)[1])

    source = PolicySource([tmp_path], read=read)
    await source.load()
    assert queues(source) == {"a1", "b1"}


async def test_files_that_never_settle_are_trouble(tmp_path):
    n = 0

    def read(roots):
        nonlocal n
        n += 1
        (tmp_path / "a.tide").write_text(queue("a", n))
        return read_policy_files(roots)

    with pytest.raises(PolicyTrouble, match="faster"):
        await PolicySource([tmp_path], read=read).load()


async def test_one_broken_file_of_five_leaves_the_whole_set_in_force(tmp_path, caplog):
    for n in range(5):
        (tmp_path / f"{n}.tide").write_text(queue(f"q{n}"))
    source = PolicySource([tmp_path], clock=lambda: 77.0)
    before = await source.load()
    (tmp_path / "0.tide").write_text(queue("q0", 9))
    (tmp_path / "3.tide").write_text(BROKEN)
    assert not await source.poll()
    assert source.current is before
    assert source.stale is not None
    assert source.stale.since == 77.0
    assert "3.tide:2" in source.stale.text
    assert "did you mean" in source.stale.text
    assert "the policy files are broken" in caplog.text


async def test_a_broken_set_is_complained_of_once_and_mended_by_its_own_past(tmp_path, caplog):
    (tmp_path / "a.tide").write_text(GOOD)
    source = PolicySource([tmp_path])
    before = await source.load()
    (tmp_path / "a.tide").write_text(BROKEN)
    for _ in range(3):
        await source.poll()
    assert caplog.text.count("are broken") == 1
    (tmp_path / "a.tide").write_text(GOOD)
    assert not await source.poll()
    assert source.stale is None
    assert source.current is not None
    assert source.current.revision == before.revision


async def test_files_that_vanish_and_come_back_unchanged_are_mended(tmp_path):
    (tmp_path / "a.tide").write_text(GOOD)
    source = PolicySource([tmp_path])
    await source.load()
    (tmp_path / "a.tide").rename(tmp_path / "a.txt")
    assert not await source.poll()
    assert source.stale is not None
    (tmp_path / "a.txt").rename(tmp_path / "a.tide")
    await source.poll()
    assert source.stale is None


async def test_a_queue_in_two_files_is_refused_with_both_places(tmp_path):
    (tmp_path / "a.tide").write_text(GOOD)
    (tmp_path / "b.tide").write_text(GOOD)
    with pytest.raises(PolicyTrouble) as caught:
        await PolicySource([tmp_path]).load()
    assert "a.tide:1" in caught.value.text
    assert "b.tide:1" in caught.value.text


async def test_two_sources_give_the_same_revision_in_either_order(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, name in ((one, "a"), (two, "b")):
        folder.mkdir()
        (folder / "x.tide").write_text(queue(name))
    first = await PolicySource([one, two]).load()
    second = await PolicySource([two, one]).load()
    assert first.revision == second.revision


async def test_following_tells_of_every_change_and_of_trouble(tmp_path):
    (tmp_path / "a.tide").write_text(queue("a", 1))
    source = PolicySource([tmp_path])
    await source.load()
    told = asyncio.Event()
    task = asyncio.create_task(source.follow(told.set, every_seconds=0.01))
    try:
        for text in (queue("a", 2), BROKEN, queue("a", 2), queue("a", 3)):
            fresh = tmp_path / "fresh"
            fresh.write_text(text)
            fresh.replace(tmp_path / "a.tide")
            async with asyncio.timeout(20):
                await told.wait()
            told.clear()
    finally:
        task.cancel()
    assert source.stale is None
