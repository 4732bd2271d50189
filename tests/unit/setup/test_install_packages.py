# SPDX-License-Identifier: Apache-2.0
"""Test what the set-up installs, and from where, when Debian's own packages are too old."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[3] / "setup"
# These answer like the package tools of a Debian 12 with the mirror http://mirror/debian/.
DPKG_QUERY = """case "$*" in
*new*) echo 'install ok installed 1:10.0.2' ;;
*old*) echo 'install ok installed 1:7.2' ;;
*) exit 1 ;;
esac"""
APT_CACHE = """case "$*" in
*policy*) echo '  Candidate: 1:7.2' ;;
*show*nosuch*) exit 1 ;;
esac"""
APT_GET = """case "$*" in
indextargets*backports*) ;;
indextargets*) echo http://mirror/debian/ ;;
*) echo "$*" >>"$LOG" ; cat "${2#*sourceparts=}"/wirespeed-backports.list >>"$LOG" 2>/dev/null ;;
esac
true"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in (
        ("dpkg-query", DPKG_QUERY), ("apt-cache", APT_CACHE), ("apt-get", APT_GET),
        ("systemctl", "exit 1"),
    ):  # fmt: skip
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return folder


def installed(programs: Path, tmp_path: Path, entries: str) -> list[str]:
    """Return apt-get's arguments, and the source that it got."""
    listed = tmp_path / "packages.txt"
    listed.write_text(entries)
    return install(programs, listed)


def install(programs: Path, listed: Path) -> list[str]:
    """Return what `installed` does, of a list that is there."""
    log = listed.parent / "log"
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "LOG": str(log)}
    subprocess.run([SETUP / "install-packages.sh", listed], check=True, env=environment)
    return log.read_text().splitlines() if log.exists() else []


def test_installed_packages_are_not_installed_again(programs: Path, tmp_path: Path) -> None:
    assert installed(programs, tmp_path, "new>=1:10\nold\nnosuch|old\n# missing\n") == []


@pytest.mark.root
def test_install_old_package_alone_comes_from_backports(programs: Path, tmp_path: Path) -> None:
    told = installed(programs, tmp_path, "old>=1:10\nmissing\nnew>=1:10\n")
    source = next(line for line in told if line.startswith("deb "))
    suite = source.split()[3]
    assert suite.endswith("-backports")
    assert source.split()[2] == "http://mirror/debian/"
    installs = [line for line in told if "install" in line.split()]
    assert len(installs) == 2
    assert f"-t {suite} old" in installs[0]
    assert "sourceparts" in installs[0]
    assert "missing" not in installs[0]
    assert installs[1].split()[-1] == "missing"
    assert "sourceparts" not in installs[1]


@pytest.mark.root
def test_the_distribution_s_own_is_taken_where_it_is_new_enough(
    programs: Path, tmp_path: Path
) -> None:
    told = installed(programs, tmp_path, "old>=1:7.2\nmissing>=1:7\n")
    assert [line.split()[-1] for line in told] == ["-qq", "missing"]
    assert not any("sourceparts" in line for line in told)


# Takes a moment and logs a concurrent run; afterwards the package is installed.
ONE_AT_A_TIME = """mkdir "$LOG.held" 2>/dev/null || echo race >>"$LOG"
sleep 1
rmdir "$LOG.held" 2>/dev/null
case "$*" in
*install*) echo installed >>"$LOG" ;;
esac
true"""
THERE_AFTERWARDS = """grep -q installed "$LOG" 2>/dev/null || exit 1
echo 'install ok installed 1:10'"""


@pytest.mark.root
def test_install_packages_twice_at_once_installs_once(programs: Path, tmp_path: Path) -> None:
    for name, text in (("apt-get", ONE_AT_A_TIME), ("dpkg-query", THERE_AFTERWARDS)):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
    listed = tmp_path / "packages.txt"
    listed.write_text("missing\n")
    with ThreadPoolExecutor(2) as threads:
        logs = list(threads.map(lambda _: install(programs, listed), range(2)))
    assert logs == [["installed"], ["installed"]]


@pytest.mark.root
def test_services_are_kept_from_starting_only_meanwhile(programs: Path, tmp_path: Path) -> None:
    policy = Path("/usr/sbin/policy-rc.d")
    if policy.exists():
        pytest.skip(f"{policy} is this machine's own")
    watch = 'ls /usr/sbin/policy-rc.d >>"$LOG"\n'
    (programs / "apt-get").write_text(f"#!/bin/sh\n{watch}{APT_GET}\n")
    told = installed(programs, tmp_path, "missing\n")
    assert str(policy) in told
    assert not policy.exists()
