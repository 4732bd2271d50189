# SPDX-License-Identifier: Apache-2.0
"""Run the parts of a check, each a make target, and print a table of them at the end.

    setup/parts.py built , test-unit test-speedtest , test-alone

A comma ends a group. The parts of a group run in parallel, the groups one after another. A failed
part hides no other: all run, and the exit status is 1 if any failed. The output of a single part is
shown while it runs; that of parallel parts when each ends, so that their lines do not mix. The
closing lines of pytest, cargo and meson are repeated at the end.

The table compares a part's seconds with its budget in setup/budget.txt, scaled to this machine by a
short calculation. A part over its budget by more than 20% is marked, but does not fail: other
programs on the host slow it, too (docs/decisions/0010-a-budget-informs.md).
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

CLOSING = re.compile(
    r"=+ (?:.* in [0-9.]+s.*) =+|test result: .*|(?:Ok|Fail|Timeout|Unexpected Pass): +\d+"
)
# A part gets no job slots of the make above it, whose pipe it does not inherit.
BUDGET = Path(__file__).with_name("budget.txt")
TOLERANCE = 1.2
JOBS = re.compile(r"-j\d*|--jobserver-\S+|--jobs\S*")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one part."""

    name: str
    status: int
    seconds: float
    """Wall-clock time."""
    cpu_s: float
    """CPU time in seconds of the part and of all its processes that ended before it."""
    closing: tuple[str, ...]
    """Closing lines of its test runners."""

    def line(self, budget_s: float | None) -> str:
        """Return the table's row. budget_s: on this machine; None if the part has none."""
        result = "passed" if self.status == 0 else "FAILED"
        row = f"  {result}  {self.name:24} {self.seconds:7.1f} s {self.cpu_s:8.1f} CPU s"
        if budget_s is None:
            return row
        over = "  OVER BUDGET" if self.seconds > TOLERANCE * budget_s else ""
        return f"{row}  of {budget_s:.0f} s{over}"


def run(name: str, live: bool) -> Outcome:
    """Run one part and show its output: while it runs if live, else when it has ended."""
    begun = time.monotonic()
    process = subprocess.Popen(
        ["make", "--no-print-directory", "--keep-going", name],
        env=environment(os.environ), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace",
    )  # fmt: skip
    assert process.stdout is not None
    lines = [f"== {name}\n"]
    if live:
        print(lines[0], end="", flush=True)
    for line in process.stdout:
        lines.append(line)
        if live:
            print(line, end="", flush=True)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if not live:
        print("".join(lines), end="", flush=True)
    closing = tuple(line.strip() for line in lines if CLOSING.fullmatch(line.strip()))
    seconds = time.monotonic() - begun
    return Outcome(name, process.returncode, seconds, used.ru_utime + used.ru_stime, closing)


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the job slots of the make above; other settings stay."""
    flags = inherited.get("MAKEFLAGS", "").split(" ")
    kept = " ".join(flag for flag in flags if not JOBS.fullmatch(flag))
    return {**inherited, "MAKEFLAGS": kept}


def reference_s() -> float:
    """Return the CPU seconds of a fixed calculation, the least of three."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        digest = hashlib.sha256()
        for _ in range(128):
            digest.update(bytes(1 << 20))
        sum(range(2_000_000))
        taken.append(time.process_time() - began)
    return min(taken)


def budgets(text: str, here_s: float) -> dict[str, float]:
    """Return the seconds of each part on this machine.

    text: lines "NAME SECONDS"; that of "reference" has the calculation's seconds on the machine of
    the others. here_s: the calculation's seconds here.
    """
    written = {
        name: float(seconds)
        for name, seconds in (
            line.split() for line in text.splitlines() if line and not line.startswith("#")
        )
    }
    scale = here_s / written.pop("reference")
    return {name: seconds * scale for name, seconds in written.items()}


def main(words: list[str]) -> int:
    budget_s = budgets(BUDGET.read_text(encoding="utf-8"), reference_s())
    outcomes = []
    for group in " ".join(words).split(","):
        names = group.split()
        with ThreadPoolExecutor(len(names)) as threads:
            outcomes += threads.map(run, names, [len(names) == 1] * len(names))
    print("\n== parts")
    for outcome in outcomes:
        print(outcome.line(budget_s.get(outcome.name)))
        for line in outcome.closing:
            print(f"          {line}")
    failed = [outcome.name for outcome in outcomes if outcome.status]
    print(f"== FAILED: {' '.join(failed)}" if failed else "== all parts passed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
