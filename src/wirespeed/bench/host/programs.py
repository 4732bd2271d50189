# SPDX-License-Identifier: Apache-2.0
"""Find a program of this project on a host."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from wirespeed.bench.interface import BenchError
from wirespeed.model.host.installed import installed_program
from wirespeed.remote.interface import RemoteError, Runner

# As the dynamic linker reports it; version of DPDK by the number of its libraries' interface.
_NO_LIBRARY = re.compile(r"(lib[^ :]+\.so\.(\d+)[^ :]*): cannot open shared object file")
_DPDK = {"23": "22.11", "24": "23.11", "25": "24.11"}


@dataclass(frozen=True, slots=True)
class Program:
    """A program of this project."""

    name: str
    built: Path
    """Path in a source tree after a build."""
    made_by: str
    """Command that builds it."""
    packages: str
    """Packages that contain it, for an error's next step."""


def find_program(runner: Runner, program: Program, path: str | None = None) -> str:
    """Return the program's path on that host. Raises BenchError when it is not there.

    path: path from a testbed file. Without it, the path in the source tree is tried first, then the
    path next to this Python, where packages and wheels install programs; both may also exist on a
    remote host. PATH is last.
    """
    if path is not None:
        if runner.glob(path):
            return path
        raise BenchError(
            f"{program.name} is not on {runner.name}: {path} does not exist",
            "Correct the path in the testbed file.",
        )
    for usual in (program.built, installed_program(program.name)):
        if runner.glob(str(usual)):
            return str(usual)
    found = runner.run(["sh", "-c", 'command -v "$1"', "sh", program.name], check=False)
    if found.exit_code != 0:
        raise BenchError(
            f"{program.name} is not on {runner.name}: {program.built} does not exist or this "
            "user cannot reach it, and it is not in PATH",
            f"Run `{program.made_by}` there in a source tree, install {program.packages}, or put "
            "the program in PATH.",
        )
    return found.stdout.strip()


def program_version(runner: Runner, program: Program, path: str | None = None) -> str:
    """Return what `PROGRAM --version` prints. Raises BenchError where it is absent or cannot start.

    path: see find_program.
    """
    path = find_program(runner, program, path)
    try:
        return runner.run([path, "--version"]).stdout.strip()
    except RemoteError as fault:
        lacking = _NO_LIBRARY.search(fault.what)
        if lacking is None:
            raise
        release = _DPDK.get(lacking[2]) if lacking[1].startswith("librte_") else None
        raise BenchError(
            f"{path}: cannot start on {runner.name}: {lacking[1]} is missing",
            f"Install DPDK {release}, or a {program.name} that is built for the DPDK there."
            if release
            else f"Install the package of {lacking[1]}, or run `{program.made_by}` there.",
        ) from fault
