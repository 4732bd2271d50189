# SPDX-License-Identifier: Apache-2.0
"""Run commands of an installation and print what they take."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "build" / "packages"
# No program of the tree, and none of this shell's environment.
PLAIN = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
# A server of the examples, planned without a data plane.
PLANNED = ("examples/s2-chains/workload.toml", "--host", "examples/s2-chains/host.json")


@dataclass(slots=True)
class Log:
    """Commands from a bare system to a first rate, with their seconds."""

    name: str
    lines: list[str] = field(default_factory=list)

    def run(
        self,
        argv: Sequence[str | Path],
        env: Mapping[str, str] = PLAIN,
        cwd: Path = ROOT,
        *,
        entering: int = 0,
    ) -> str:
        """Return what a command prints. Fails with all of it where the command fails.

        entering: number of its first words that enter a root or namespace, and are not logged.
        """
        begun = time.monotonic()
        done = subprocess.run(
            [*map(str, argv)], env=dict(env), cwd=cwd, check=False, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        words = " ".join(map(str, argv))
        typed = " ".join(Path(word).name for word in [*map(str, argv)][entering:])
        self.lines.append(f"{time.monotonic() - begun:6.1f} s  {typed}")
        assert done.returncode == 0, f"{words}\n{done.stdout}"
        return done.stdout

    def show(self, *folders: Path) -> None:
        """Print the commands, and the MB that folders take."""
        taken = subprocess.run(
            ["du", "-scm", *folders], check=True, capture_output=True, text=True
        ).stdout.split()[-2]
        print(f"\n== {self.name}: {taken} MB", *self.lines, sep="\n  ")
