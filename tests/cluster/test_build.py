"""What build.py says and does where there is no Go, where there is, and where it fails.

Go is played by a script: the real builds take a quarter of an hour and are proved by their use.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster import build

BINARIES = [part.name for part in build.PARTS]

GO = """#!/bin/sh
echo "$*" >> "$LOG"
case "$1 $2" in
  "env GOVERSION") echo go1.26.8 ;;
  "list -m") [ "$4" = "{{.Dir}}" ] && echo "$SOURCE" || echo v1.2.3 ;;
  "build -trimpath")
    [ -n "$BROKEN" ] && { echo "missing go.sum entry" >&2; exit 1; }
    echo binary > "$6" ;;
esac
"""


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with nothing but a shell on PATH, and an empty cache."""
    commands = tmp_path / "bin"
    commands.mkdir()
    monkeypatch.setenv("PATH", str(commands))
    monkeypatch.setenv("TIDEGATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(build.ASSETS_VARIABLE, raising=False)
    build._go_environment.cache_clear()
    return tmp_path


@pytest.fixture
def go(bench: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log of a Go that succeeds at everything."""
    (bench / "bin" / "go").write_text(GO)
    (bench / "bin" / "go").chmod(0o755)
    for name in build.JOBSET_CONFIG:
        (bench / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (bench / "source" / name).write_text(name)
    monkeypatch.setenv("SOURCE", str(bench / "source"))
    monkeypatch.setenv("LOG", str(bench / "log"))
    return bench / "log"


def test_without_go_it_says_so_in_one_line_and_succeeds(bench):
    script = Path(build.__file__)
    done = subprocess.run(
        [sys.executable, script], env=os.environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    assert done.stdout.startswith("skipped: the tests on a real control plane; no Go")


def test_everything_is_built_once(go):
    with pytest.raises(build.UnavailableError, match="not built yet"):
        build.ready()
    first = build.ensure()
    count = go.read_text().count("build -trimpath")
    assert count == len(BINARIES)
    assert build.ensure() == build.ready() == first
    assert go.read_text().count("build -trimpath") == count
    assert first.jobset_version == "v1.2.3"
    assert {one.name for one in first.jobset_config.iterdir()} == {
        Path(name).name for name in build.JOBSET_CONFIG
    }


def test_the_version_goes_to_the_linker(go):
    build.ensure()
    line = next(one for one in go.read_text().splitlines() if one.endswith("/cmd/kube-apiserver"))
    assert "version.gitVersion=v1.2.3" in line
    assert "version.gitMinor=2" in line


def test_a_failure_tells_which_command_said_what(go, monkeypatch):
    monkeypatch.setenv("BROKEN", "yes")
    with pytest.raises(build.BuildError, match=r"`go build .*exited with 1:\nmissing go.sum entry"):
        build.ensure()
    with pytest.raises(build.UnavailableError):  # and half a build is no build
        build.ready()


def test_the_callers_flags_do_not_weaken_the_pins(monkeypatch):
    monkeypatch.setenv("GOFLAGS", "-mod=mod")
    build._go_environment.cache_clear()
    assert "-mod=readonly" in build._go_environment()["GOFLAGS"]


def assets(bench: Path, names: list[str]) -> Path:
    folder = bench / "assets"
    folder.mkdir()
    for name in names:
        (folder / name).write_text("v9" if name.endswith(".version") else "given")
    return folder


def test_given_binaries_come_first_and_the_rest_is_built(bench, go, monkeypatch):
    folder = assets(bench, ["etcd", "kube-apiserver"])
    monkeypatch.setenv(build.ASSETS_VARIABLE, str(folder))
    binaries = build.ensure()
    assert binaries.etcd == folder / "etcd"
    assert binaries.kube_apiserver == folder / "kube-apiserver"
    assert binaries.kube_controller_manager.read_text() == "binary\n"
    assert "cmd/kube-apiserver" not in go.read_text()


def test_with_everything_given_no_go_is_needed(bench, monkeypatch):
    folder = assets(bench, [*BINARIES, "jobset.version"])
    (folder / "jobset.config").mkdir()
    monkeypatch.setenv(build.ASSETS_VARIABLE, str(folder))
    assert build.ready().jobset_version == "v9"


def test_given_binaries_without_an_api_server_are_a_mistake(bench, monkeypatch):
    monkeypatch.setenv(build.ASSETS_VARIABLE, str(assets(bench, ["etcd"])))
    with pytest.raises(build.BuildError, match="no kube-apiserver in it"):
        build.ready()
