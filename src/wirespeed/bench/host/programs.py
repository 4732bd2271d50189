# SPDX-License-Identifier: Apache-2.0
"""Where on a host is a program of ours?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wirespeed.bench.interface import BenchError
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class Program:
    """built: where it is in a source tree. made_by: the command that leaves it there."""

    name: str
    built: Path
    made_by: str


def find_program(runner: Runner, program: Program, told: str | None = None) -> str:
    """Its path on that host. Raises BenchError when it is not there.

    told: where a lab file says that it is. Otherwise the source tree's own counts, which another
    host may have in the same place, and then the one in PATH.
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
