# SPDX-License-Identifier: Apache-2.0
"""Check every tracked source file against the house rules that no other linter checks.

Rules: an SPDX line at the top; at most 450 lines, 600 in a test (the aim is 250); no note-to-self
markers; no word of WORDS, in documents and schemas neither. Output of the product (golden files,
rendered examples) is not source. Prints one line per error and exits 1 if there is any.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SOURCES = {".py", ".c", ".h", ".rs", ".sh"}
MAX_LINES, MAX_TEST_LINES = 450, 600
WRITTEN_BY_US = ("examples/", "tests/golden/", "tests/hosts/")
TEXTS = {*SOURCES, ".md", ".txt", ".toml", ".json", ".html", ".js"}
# Words that readers of DPDK, Open vSwitch and OpenStack do not expect, and the ones to write.
WORDS = {
    r"besides": "also, further, apart from",
    r"(?<!not )so many\b(?! of| that)": "N",
    r"as so\b(?! far)": "as written",
    r"by whatever": "any",
    r"odd one": "outlier",
    r"deeds?": "injected fault",
    r"faults? on purpose": "injected fault",
    r"loud": "noisy",
    r"seams?": "interface",
}
WORD = re.compile("|".join(rf"\b({word})\b" for word in WORDS), re.IGNORECASE)
# The first lists the words; the change log keeps what was published; names of tests' noise.
MAY_USE_WORDS = ("setup/check_tree.py", "CHANGELOG.md", "tests/")
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


def words_of(path: Path) -> list[str]:
    """Return an error for each word of WORDS in a text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    uses = tuple(WORDS.values())
    return [
        f"{path}:{number}: {found[0]!r}: write {uses[(found.lastindex or 1) - 1]!r}"
        for number, line in enumerate(lines, 1)
        for found in WORD.finditer(line)
    ]


def main() -> int:
    tracked = subprocess.run(
        ["git", "ls-files"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    sources = [
        Path(name)
        for name in tracked
        if Path(name).suffix in SOURCES and not name.startswith(WRITTEN_BY_US)
    ]
    texts = [
        Path(name)
        for name in tracked
        if Path(name).suffix in TEXTS and not name.startswith((*WRITTEN_BY_US, *MAY_USE_WORDS))
    ]
    faults = [fault for path in sources if path.exists() for fault in faults_of(path)]
    faults += [fault for path in texts if path.exists() for fault in words_of(path)]
    print("\n".join(faults) or f"{len(sources)} source files keep the house rules")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
