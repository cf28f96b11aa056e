"""``tidegate lint --fix``: what is cured, what is left alone, and how it is written."""

import os
import stat
from pathlib import Path

import pytest

from tests.cli.test_lint import lint
from webhook.cli.exits import Exit
from webhook.cli.writing import write_text

BROKEN = (
    b'\xef\xbb\xbfqueue "q" {\r\n  quota { cpu 1 memory 64 }\r\n}\r\n'
    b"route when pods = 1 to q\r\n# tidegate: ignore[TG308] an old one\r\nrout to q\r\n"
)
SAFE = (
    b"\xef\xbb\xbfqueue q {\r\n  quota { cpu 1 , memory 64 }\r\n}\r\n"
    b"route when pods == 1 to q\r\n# tidegate: ignore[TG308] an old one\r\nrout to q\r\n"
)
ALL = (
    b"\xef\xbb\xbfqueue q {\r\n  quota { cpu 1 , memory 64Gi }\r\n}\r\n"
    b"route when pods == 1 to q\r\nroute to q\r\n"
)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "a.tide"
    path.write_bytes(BROKEN)
    path.chmod(0o640)
    return path


def test_safe_fixes_keep_mode_line_ends_and_mark(policy: Path) -> None:
    result = lint("--fix", policy)
    assert policy.read_bytes().replace(b"1, memory", b"1 , memory") == SAFE
    assert stat.S_IMODE(policy.stat().st_mode) == 0o640
    assert result.exit_code == Exit.FOUND
    assert result.stderr.startswith("1 file, 3 fixed, 1 error")
    assert [path.name for path in policy.parent.iterdir()] == ["a.tide"]


def test_unsafe_fixes_are_asked_for(policy: Path) -> None:
    result = lint("--fix", "--unsafe-fixes", policy)
    assert policy.read_bytes() == ALL
    assert result.exit_code == Exit.OK


def test_nothing_to_fix_writes_nothing(policy: Path) -> None:
    policy.write_text("queue q { quota { cpu 1 } }\n")
    os.utime(policy, (1, 1))
    assert lint("--fix", policy).exit_code == Exit.OK
    assert policy.stat().st_mtime == 1


def test_what_is_not_utf8_is_not_touched(policy: Path) -> None:
    text = b'queue "q" { quota { cpu 1 } }\n# \xff\n'
    policy.write_bytes(text)
    assert lint("--fix", "--unsafe-fixes", policy).exit_code == Exit.FOUND
    assert policy.read_bytes() == text


def test_what_is_not_selected_is_not_fixed(policy: Path) -> None:
    policy.write_text("queue q { quota { memory 64 } }\n")
    lint("--fix", "--unsafe-fixes", "--ignore", "TG014", policy)
    assert policy.read_text() == "queue q { quota { memory 64 } }\n"


def test_a_link_stays_a_link(policy: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.tide"
    link.symlink_to(policy)
    write_text(str(link), "queue q { }\n")
    assert link.is_symlink()
    assert policy.read_bytes() == b"\xef\xbb\xbfqueue q { }\n"


def test_the_form_is_put_right_only_where_it_is_asked_for(policy: Path) -> None:
    text = b"\xef\xbb\xbfqueue q {quota{cpu 1}}\r\n# two\r\nroute   to q\r\n"
    policy.write_bytes(text)
    assert lint("--fix", policy).stderr == "1 file, no problems\n"
    assert policy.read_bytes() == text
    assert lint("--select", "TG7", "--ignore", "TG701", policy).stdout == ""
    assert ":1:1: style[TG701]" in lint("--select", "TG7", "--format", "concise", policy).stdout
    assert lint("--select", "TG701", "--fix", policy).stderr == "1 file, 1 fixed, no problems\n"
    right = b"\xef\xbb\xbfqueue q { quota { cpu 1 } }\r\n# two\r\nroute to q\r\n"
    assert policy.read_bytes() == right
