# SPDX-License-Identifier: Apache-2.0
"""Run .ci/run repeatedly, some runs next to two busy loops, and print a table of all.

    python -m benchmarks.ci_repeats                                  10 runs, 5 of them loaded
    python -m benchmarks.ci_repeats --repeats 2 --loaded 1 --order reverse

A row is one command or part of one run: its load, its result, its seconds. Each run takes as long
as CI, about half an hour, and is kept in build/ci-repeats by commit and order: started again, the
series goes on after its last run that ended. Exits 1 if a run failed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOGS = ROOT / "build" / "ci-repeats"
BUSY_LOOPS = 2
# A line of setup/parts.py, and one of .ci/run.
PART = re.compile(r"  (passed|FAILED)  (\S+) +([\d.]+) s +[\d.]+ CPU s(?:  of .*)?")
STATUS = re.compile(r"exit status (-?\d+)")
COMMAND = re.compile(r"(passed|FAILED) +(\d+) s  (\S+): (.+)")


@dataclass(frozen=True, slots=True)
class Row:
    """One part or command of a run that ended."""

    result: str
    name: str
    seconds: float
    """Wall-clock time."""


def rows(log: str) -> list[Row]:
    """Return the parts and commands of a log of .ci/run, in its order."""
    found = []
    for line in log.splitlines():
        if part := PART.fullmatch(line):
            found.append(Row(part[1], f"  {part[2]}", float(part[3])))
        elif command := COMMAND.fullmatch(line):
            found.append(Row(command[1], f"{command[3]}: {command[4]}", float(command[2])))
    return found


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep this many CPUs busy while the block runs."""
    with ExitStack() as stack:
        for _ in range(count):
            loop = stack.enter_context(subprocess.Popen(["sh", "-c", "while :; do :; done"]))
            stack.callback(loop.kill)
        yield


def ended(log: Path) -> int | None:
    """Return the exit status of a run; None if it never began or was cut."""
    if not log.exists():
        return None
    last = log.read_text(errors="replace").rstrip().rpartition("\n")[2]
    found = STATUS.fullmatch(last)
    return int(found[1]) if found else None


def run(log: Path, loaded: bool, order: str) -> int:
    """Run .ci/run once. Return its exit status, which the last line of the log has, too."""
    words = [str(ROOT / ".ci/run"), order]
    with busy_loops(BUSY_LOOPS if loaded else 0), log.open("w") as written:
        done = subprocess.run(
            words, cwd=ROOT, stdout=written, stderr=subprocess.STDOUT, check=False
        )
        written.write(f"exit status {done.returncode}\n")
    return done.returncode


def passed(number: int, loaded: bool, folder: Path) -> bool:
    """Run it unless it ran, print its rows, and return whether it passed."""
    load = f"{BUSY_LOOPS} loops" if loaded else "none"
    log = folder / f"{number}-{'loaded' if loaded else 'quiet'}.log"
    if (status := ended(log)) is None:
        status = run(log, loaded, folder.name)
    for row in rows(log.read_text(errors="replace")):
        print(f"{number:3}  {load:8} {row.result:6} {row.seconds:8.1f}  {row.name}")
    print(f"{number:3}  {load:8} exit status {status}; {log}", flush=True)
    return status == 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Repeat .ci/run and print a table.")
    parser.add_argument("--repeats", type=int, default=10, help="runs in all; default 10")
    parser.add_argument("--loaded", type=int, default=5, help="of them next to two busy loops")
    parser.add_argument("--order", choices=("both", "readme", "reverse"), default="both")
    asked = parser.parse_args()
    if not 0 <= asked.loaded <= asked.repeats:
        parser.error(f"--loaded {asked.loaded}: give 0 to --repeats, {asked.repeats}")
    head = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(head, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folder = LOGS / commit.strip() / asked.order
    folder.mkdir(parents=True, exist_ok=True)
    print("run  load     result  seconds  command or part")
    # Spread over the runs, so that a slow change of the machine meets quiet and loaded ones alike.
    share = asked.loaded / max(asked.repeats, 1)
    loaded = [int((n + 1) * share) > int(n * share) for n in range(asked.repeats)]
    good = sum(passed(n, is_loaded, folder) for n, is_loaded in enumerate(loaded, 1))
    print(f"{good} of {asked.repeats} runs passed")
    return 0 if good == asked.repeats else 1


if __name__ == "__main__":
    sys.exit(main())
