# SPDX-License-Identifier: Apache-2.0
"""Check every tracked source file against the house rules that no other linter checks.

Rules: an SPDX line at the top; at most 450 lines, 600 in a test (the aim is 250); no note-to-self
markers. Output of the product (golden files, rendered examples) is not source. Prints one line per
error and exits 1 if there is any.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SOURCES = {".py", ".c", ".h", ".rs", ".sh"}
MAX_LINES, MAX_TEST_LINES = 450, 600
WRITTEN_BY_US = ("examples/", "tests/golden/", "tests/hosts/")
MARKER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")


def faults_of(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
        found.append(f"{path}: no SPDX line in the first three lines")
    limit = MAX_TEST_LINES if "tests" in path.parts else MAX_LINES
    if len(lines) > limit:
        found.append(f"{path}: {len(lines)} lines; split it, the limit is {limit}")
    found += [
        f"{path}:{number}: a marker is not a plan; do it or write an issue"
        for number, line in enumerate(lines, 1)
        if MARKER.search(line)
    ]
    return found


def main() -> int:
    tracked = subprocess.run(
        ["git", "ls-files"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    sources = [
        Path(name)
        for name in tracked
        if Path(name).suffix in SOURCES and not name.startswith(WRITTEN_BY_US)
    ]
    faults = [fault for path in sources if path.exists() for fault in faults_of(path)]
    print("\n".join(faults) or f"{len(sources)} source files keep the house rules")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
