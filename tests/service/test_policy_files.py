"""Which files are a policy, and in which order."""

import os
from pathlib import Path

import pytest

from webhook.service.policy_files import Unreadable, read_policy_files


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n")


def names(*roots: Path) -> list[str]:
    return [file.text[2:-1] for file in read_policy_files([str(root) for root in roots])]


def test_files_come_in_the_order_of_the_roots_then_bytewise_by_path(tmp_path: Path) -> None:
    write(tmp_path, "b/a.tide", "b/B.tide", "b/a/z.tide", "b/a-b.tide", "a/x.tide", "a/ignored.txt")
    assert names(tmp_path / "b", tmp_path / "a") == [
        "b/B.tide",
        "b/a-b.tide",
        "b/a.tide",
        "b/a/z.tide",
        "a/x.tide",
    ]


def test_hidden_names_are_skipped_and_a_file_reached_twice_counts_once(tmp_path: Path) -> None:
    """As the kubelet mounts a ConfigMap."""
    write(tmp_path, "..2026/a.tide", ".git/b.tide", ".c.tide")
    (tmp_path / "..data").symlink_to("..2026")
    (tmp_path / "a.tide").symlink_to("..data/a.tide")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert names(tmp_path, tmp_path / "a.tide", tmp_path / "..2026" / "a.tide") == ["..2026/a.tide"]


def test_a_root_may_be_a_file_of_any_name(tmp_path: Path) -> None:
    write(tmp_path, "policy.txt")
    assert names(tmp_path / "policy.txt") == ["policy.txt"]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="missing: no such file or directory"):
        names(tmp_path / "missing")
    with pytest.raises(Unreadable, match=r"no \.tide file below"):
        names(tmp_path)
    (tmp_path / "a.tide").symlink_to("nowhere")
    with pytest.raises(Unreadable, match="no such file"):
        names(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a.tide")
    (tmp_path / "a.tide").chmod(0)
    with pytest.raises(Unreadable, match="permission denied"):
        names(tmp_path)
