# SPDX-License-Identifier: Apache-2.0
"""Run every benchmark of this folder, or the named ones, one after the other.

Each prints lines of `name value unit ratio-to-what`; nothing is compared with a result of another
run or machine. Lines with the word "asked" come again at the end, as one list. Exits 1 when a
benchmark could not run.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ASKED = " asked "
# They take hours, and are run by name: python -m benchmarks.ci_repeats
LONG = {"ci_repeats", "tune_real"}


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("[a-z]*.py") if path.stem not in LONG)


def run(name: str) -> tuple[int, list[str]]:
    """Run a benchmark, print what it prints, and return its exit code and the lines with goals."""
    command = [sys.executable, "-m", f"benchmarks.{name}"]
    goals = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            if ASKED in line:
                goals.append(line.rstrip())
    return process.returncode, goals


def main(wanted: list[str]) -> int:
    unknown = sorted(set(wanted) - set(names()))
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(names())}")
        return 2
    failed, asked = [], []
    for name in wanted or names():
        print(f"\n# {name}", flush=True)
        code, lines = run(name)
        asked += lines
        if code:
            failed.append(name)
    if asked:
        print("\n# asked and measured", *asked, sep="\n")
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
