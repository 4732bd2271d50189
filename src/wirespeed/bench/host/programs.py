# SPDX-License-Identifier: Apache-2.0
"""Find a program of this project on a host."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wirespeed.bench.interface import BenchError
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class Program:
    """A program of this project."""

    name: str
    built: Path
    """Path in a source tree after a build."""
    made_by: str
    """Command that builds it."""


def find_program(runner: Runner, program: Program, told: str | None = None) -> str:
    """Return the program's path on that host. Raises BenchError when it is not there.

    told: path from a testbed file. Without it, the path in the source tree is tried first, which
    may also exist on a remote host, then PATH.
    """
    if told is not None:
        if runner.glob(told):
            return told
        raise BenchError(
            f"{program.name} is not on {runner.name}: {told} does not exist",
            "Correct the path in the lab file.",
        )
    if runner.glob(str(program.built)):
        return str(program.built)
    found = runner.run(["sh", "-c", 'command -v "$1"', "sh", program.name], check=False)
    if found.exit_code != 0:
        raise BenchError(
            f"{program.name} is not on {runner.name}: {program.built} does not exist or this "
            "user cannot reach it, and it is not in PATH",
            f"Run `{program.made_by}` there, or put the program in PATH.",
        )
    return found.stdout.strip()
