# SPDX-License-Identifier: Apache-2.0
"""Install the wheels into a fresh environment, and use what needs no data plane."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packages.commands import BUILT, PLAIN, PLANNED, ROOT, Log
from wirespeed.study.shipped import shipped_names

_PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def log() -> Iterator[Log]:
    made = Log("wheel")
    yield made
    print(*made.lines, sep="\n")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, log: Log) -> Path:
    """Provide a fresh environment with the pure wheel, made of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check",
         "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT],
        check=True,
    )  # fmt: skip
    log.run([sys.executable, "-m", "venv", folder / "venv"])
    python = folder / "venv/bin/python"
    locked = ("--require-hashes", "--only-binary", ":all:", "-r", ROOT / "setup/locks/run.txt")
    # The package index is reached as pip is set up on this host.
    subprocess.run([python, *_PIP, "--no-compile", *locked], check=True)
    log.run([python, *_PIP, "--no-deps", *folder.glob("wirespeed-*.whl")])
    return folder / "venv/bin/wirespeed"


def test_wheel_command_prints_help(installed: Path, log: Log) -> None:
    assert "Usage: wirespeed" in log.run([installed, "--help"])


def test_wheel_is_refused_for_an_older_python(installed: Path, tmp_path: Path) -> None:
    [wheel] = installed.parents[2].glob("wirespeed-*.whl")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-index", "--no-deps",
         "--only-binary", ":all:", "--python-version", "3.10", "--dest", tmp_path, wheel],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert "requires a different Python: 3.10" in done.stderr


def test_wheel_contains_the_shipped_studies(installed: Path, log: Log, tmp_path: Path) -> None:
    listed = log.run([installed, "study", "list"], cwd=tmp_path)
    assert all(name in listed for name in shipped_names())


def test_wheel_plans_an_example_without_dpdk(installed: Path, log: Log, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    log.run([installed, "plan", *PLANNED, "-o", plan])
    assert plan.read_text() == (ROOT / "examples/s2-chains/plan.json").read_text()
    log.run([installed, "plan", "render", plan, "-o", tmp_path / "rendered"])
    assert (tmp_path / "rendered").is_dir()


def test_wheel_run_without_wsdp_names_what_to_install(installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [installed, "run", "wire"], cwd=tmp_path, check=False, capture_output=True, text=True,
        env={**PLAIN, "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "the wheel wirespeed-native" in done.stderr


@pytest.mark.packages(whole=True)
def test_native_wheel_measures(installed: Path, log: Log, tmp_path: Path) -> None:
    """Measure with the wsdp of the wheel: the last test, because it stays installed."""
    python = installed.with_name("python")
    log.run([python, *_PIP, "--no-deps", *(BUILT / "wheels").glob("wirespeed_native-*.whl")])
    said = log.run([installed, "run", "wire"], {**PLAIN, "HOME": str(tmp_path)}, tmp_path)
    assert "wire, 64 B" in said
    log.show(installed.parents[1])


@pytest.mark.packages(whole=True)
def test_wheels_of_the_same_sources_are_equal(tmp_path: Path) -> None:
    built = "build/dataplane-guest/wsdp"
    there = [path for path in (ROOT / built, ROOT / "build/debian13/src" / built) if path.exists()]
    subprocess.run([ROOT / "setup/wheels.sh", sys.executable, tmp_path, *there], check=True)
    for made in (BUILT / "wheels").glob("*.whl"):
        assert made.read_bytes() == (tmp_path / made.name).read_bytes(), made.name
    shutil.rmtree(tmp_path)
