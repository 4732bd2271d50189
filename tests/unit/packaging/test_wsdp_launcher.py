# SPDX-License-Identifier: Apache-2.0
"""Test which build of wsdp the wheel's launcher starts, with a double of ldd."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

LAUNCHER = Path(__file__).parents[3] / "dataplane/wheel/wsdp.sh"
RELEASES = ("22.11", "24.11")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Provide the launcher as pip installs it, with builds that print their release and words."""
    (tmp_path / "bin").mkdir()
    for release in RELEASES:
        build = tmp_path / f"libexec/wirespeed/dpdk-{release}/wsdp"
        build.parent.mkdir(parents=True)
        build.write_text(f'#!/bin/sh\necho "{release} $*"\n')
        build.chmod(0o755)
    shutil.copy(LAUNCHER, tmp_path / "bin/wsdp")
    return tmp_path / "bin/wsdp"


def start(launcher: Path, has: str) -> subprocess.CompletedProcess[str]:
    """Start it where the libraries of one release are."""
    doubles = launcher.parents[1] / "doubles"
    doubles.mkdir()
    double = doubles / "ldd"
    double.write_text(
        f'#!/bin/sh\ncase "$1" in\n*dpdk-{has}/*) echo "  librte_eal.so => /usr/lib/x (0x1)" ;;\n'
        '*) echo "  librte_eal.so => not found" ;;\nesac\n'
    )
    double.chmod(0o755)
    return subprocess.run(
        [launcher, "--version"], env={"PATH": f"{doubles}:/usr/bin:/bin"}, check=False,
        capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("release", RELEASES)
def test_wsdp_launcher_starts_the_build_for_the_dpdk_there(installed: Path, release: str) -> None:
    assert start(installed, release).stdout == f"{release} --version\n"


def test_wsdp_launcher_without_dpdk_says_what_to_install(installed: Path) -> None:
    done = start(installed, "20.11")
    assert done.returncode != 0
    [line] = done.stderr.splitlines()
    assert "lacks DPDK 22.11 or 24.11" in line
    assert "librte_eal.so => not found" in line
    assert "apt-get install dpdk" in line
