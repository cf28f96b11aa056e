"""The wheel holds what the package reads at run time; an editable install would hide a gap."""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = ["pyproject.toml", "README.md", "LICENSE"]
NOT_SHIPPED = shutil.ignore_patterns("__pycache__", ".*")


def _files(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, so that building leaves nothing in the tree of the person who runs the tests."""
    source = tmp_path_factory.mktemp("source")
    for name in SOURCES:
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "webhook", source / "webhook", ignore=NOT_SHIPPED)
    return source


@pytest.fixture(scope="module")
def installed(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the wheel unpacks to."""
    target = tmp_path_factory.mktemp("wheel")
    offline = ["--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", ".", *offline, "--quiet", "--wheel-dir", target],
        cwd=source,
        check=True,
    )
    (wheel,) = target.glob("tidegate-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target / "unpacked")
    return target / "unpacked"


def test_the_wheel_holds_every_file_of_the_package(source: Path, installed: Path) -> None:
    wanted = set(_files(ROOT / "webhook")) & set(_files(source / "webhook"))
    assert "py.typed" in wanted
    assert wanted - set(_files(installed / "webhook")) == set()


def test_the_wheel_brings_no_other_package(installed: Path) -> None:
    (info,) = installed.glob("tidegate-*.dist-info")
    assert {path.name for path in installed.iterdir()} == {"webhook", info.name}


def test_the_command_starts_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    script = "import sys, webhook.cli.main as m; print(m.__file__, flush=True); m.main()"
    printed = subprocess.run(
        [sys.executable, "-c", script, "--version"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(installed)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert printed.startswith(str(installed))
    assert "version 0." in printed
