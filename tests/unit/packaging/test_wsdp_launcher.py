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


def start(launcher: Path, has: str, other: str = "") -> subprocess.CompletedProcess[str]:
    """Start it where one release's libraries are. other: line of another library in ldd."""
    doubles = launcher.parents[1] / "doubles"
    doubles.mkdir()
    ldd = (
        f'case "$1" in\n*dpdk-{has}/*) echo "  librte_eal.so => /usr/lib/x (0x1){other}" ;;\n'
        '*) echo "  librte_eal.so => not found" ;;\nesac\n'
    )
    cache = "\tlibc.so.6 (libc6,x86-64) => /lib/libc.so.6\n"
    if has == "23.11":
        cache += "\tlibrte_eal.so.24 (libc6,x86-64) => /lib/librte_eal.so.24\n"
    for name, script in (("ldd", ldd), ("ldconfig", f"printf '{cache}'\n")):
        (doubles / name).write_text(f"#!/bin/sh\n{script}")
        (doubles / name).chmod(0o755)
    return subprocess.run(
        [launcher, "--version"], env={"PATH": f"{doubles}:/usr/bin:/bin"}, check=False,
        capture_output=True, text=True,
    )  # fmt: skip


def error(done: subprocess.CompletedProcess[str]) -> str:
    """Return its one line on stderr."""
    assert done.returncode == 127
    [line] = done.stderr.splitlines()
    return line


@pytest.mark.parametrize("release", RELEASES)
def test_wsdp_launcher_starts_the_build_for_the_dpdk_there(installed: Path, release: str) -> None:
    assert start(installed, release).stdout == f"{release} --version\n"


def test_wsdp_launcher_without_dpdk_names_what_to_install(installed: Path) -> None:
    line = error(start(installed, "none"))
    assert line.startswith("wsdp: no DPDK 22.11 or 24.11; install it, on Debian and Ubuntu: ")


def test_wsdp_launcher_with_dpdk_of_another_abi_names_it(installed: Path) -> None:
    line = error(start(installed, "23.11"))
    assert "built for DPDK 22.11 or 24.11, this system has DPDK 23.11 (ABI 24)" in line
    assert "use the container" in line


def test_wsdp_launcher_with_its_dpdk_names_another_library_that_is_absent(installed: Path) -> None:
    line = error(start(installed, "24.11", "\n  libpcap.so.0.8 => not found"))
    assert "libpcap.so.0.8 => not found" in line
    assert "librte_eal" not in line
