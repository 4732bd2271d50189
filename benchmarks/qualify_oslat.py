# SPDX-License-Identifier: Apache-2.0
"""Compare the longest gap that `wirespeed qualify` finds with that of oslat (rt-tests).

Both poll on one CPU in turns, at the same priority, while a real-time program takes the CPU for a
known time; without it, the host's own noise differs from turn to turn. Each median of the longest
gaps is printed with its spread, (largest - smallest) / median. Needs root, two CPUs and the Debian
package rt-tests.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from statistics import median

from benchmarks.shared.disturbances import taking_cpu
from benchmarks.shared.figures import show

from wirespeed.qualify.cpus import usable_cpus
from wirespeed.qualify.qualify import qualify
from wirespeed.remote.local import LocalRunner

TURNS, SECONDS, EVERY_S = 5, 3, 0.2
TAKEN_S = (0.0, 0.005, 0.010, 0.025)
# As `wirespeed qualify` polls.
NICE = ["nice", "-n", "-20"]


def taken(cpu: int, length_s: float) -> AbstractContextManager[None]:
    return taking_cpu(cpu, EVERY_S, length_s) if length_s else nullcontext()


def of_qualify(cpu: int) -> float:
    """Return the longest gap in us."""
    [found] = qualify(LocalRunner(), [cpu], usable_cpus(), SECONDS).cpus
    return found.longest_ns / 1e3


def of_oslat(cpu: int, main: int) -> float:
    """Return the largest latency in us."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "oslat.json"
        subprocess.run(
            [*NICE, "oslat", "--cpu-list", str(cpu), "--cpu-main-thread", str(main),
             "--duration", str(SECONDS), "--quiet", f"--json={file}"],
            stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        threads = json.loads(file.read_text(encoding="utf-8"))["thread"]
    return max(float(each["max"]) for each in threads.values())


def spread(values: list[float]) -> float:
    return (max(values) - min(values)) / median(values)


def main() -> int:
    allowed = usable_cpus()
    if os.geteuid() != 0 or len(allowed) < 2 or shutil.which("oslat") is None:
        print("needs root, two CPUs and oslat (apt-get install rt-tests)")
        return 1
    main_cpu, cpu = allowed[0], allowed[-1]
    for length_s in TAKEN_S:
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(TURNS):
            with taken(cpu, length_s):
                ours.append(of_qualify(cpu))
                theirs.append(of_oslat(cpu, main_cpu))
        name = f"taken_for_{length_s * 1e3:.0f}ms" if length_s else "left_alone"
        show(f"{name}_qualify", median(ours), "us", median(ours) / median(theirs), "oslat")
        show(f"{name}_oslat", median(theirs), "us")
        show(f"{name}_qualify_spread", 100 * spread(ours), "%")
        show(f"{name}_oslat_spread", 100 * spread(theirs), "%")
    return 0


if __name__ == "__main__":
    sys.exit(main())
