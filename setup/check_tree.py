# SPDX-License-Identifier: Apache-2.0
"""Check every tracked source file against the house rules that no other linter checks.

Rules: an SPDX line at the top; at most 450 lines, 600 in a test (the aim is 250); no note-to-self
markers; no word of WORDS in prose: documents, comments, docstrings, printed texts and names of
tests; a test's name states a behaviour and asks no question; benchmarks import nothing of
tests/unit. Output of the product (golden files, rendered examples) is not source. Prints one line
per error and exits 1 if there is any.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

SOURCES = {".py", ".c", ".h", ".rs", ".sh"}
MAX_LINES, MAX_TEST_LINES = 450, 600
WRITTEN_BY_US = ("examples/", "tests/golden/", "tests/hosts/")
TEXTS = {*SOURCES, ".md", ".txt", ".toml", ".json", ".html", ".j2", ".js"}
# Words that readers of DPDK, Open vSwitch and OpenStack do not expect, and the ones to write.
WORDS = {
    r"besides": "also, further, apart from",
    r"beside": "next to, compared with",
    r"(?<!not )so many\b(?! of| that)": "N",
    r"as so\b(?! far)": "as written",
    r"by whatever": "any",
    r"odd one": "outlier",
    r"deeds?": "injected fault",
    r"faults? on purpose": "injected fault",
    r"loud": "noisy",
    r"undisturbed": "clean",
    r"disturbed": "noisy",
    r"as this host is": "over all time",
    r"left out": "excluded (time), omitted (a key)",
    r"(?<!--)lab file": "testbed file",
    r"told": "reported, given, printed",
    r"seams?": "interface",
}
WORD = re.compile("|".join(rf"\b({word})\b" for word in WORDS), re.IGNORECASE)
# The first two list the words; the change log keeps what was published; stored runs are old output;
# the page of the result is made from docstrings, with names of JSON types as headings.
MAY_USE_WORDS = (
    "setup/check_tree.py", "tests/unit/setup/test_check_tree.py", "CHANGELOG.md",
    "tests/unit/store/data/", "docs/reference/result.md",
)  # fmt: skip
MARKER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
# Comments and strings of C, Rust, JavaScript, shell and TOML.
PROSE = {
    ".toml": re.compile(r"#[^\n]*|\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL),
    ".sh": re.compile(r"#[^\n]*|\"(?:\\.|[^\"\\\n])*\""),
    ".json": re.compile(r"\"(?:\\.|[^\"\\\n])*\""),
}
CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
# Code within prose: `names`, {values} of a format, {{ values }} and {% statements %} of a template.
NOT_PROSE = re.compile(r"`[^`\n]*`|\{\{.*?\}\}|\{%.*?%\}|\{[^{}\n]*\}")
QUESTION = r"(?:what|who|whom|whose|whoever|whatever|where|how|why|whether|which)_"
TEST_NAME = re.compile(rf"\b(?:def (?=test_)|fn )({QUESTION}\w+|test_\w+)")


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


def prose_of(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield line number and text of each piece of prose: no code, and no name in backticks."""
    if path.suffix == ".py":
        pieces = _python_prose(text, tests="tests" in path.parts)
    elif path.suffix in PROSE or path.suffix in SOURCES or path.suffix == ".js":
        found = PROSE.get(path.suffix, CODE).finditer(text)
        # A string of one word is a name.
        pieces = ((m.start(), m[0]) for m in found if m[0][0] != '"' or " " in m[0])
        pieces = ((text.count("\n", 0, start) + 1, piece) for start, piece in pieces)
    else:
        pieces = iter([(1, text)])
    for first, piece in pieces:
        for number, line in enumerate(piece.splitlines(), first):
            yield number, NOT_PROSE.sub("", line)


def _python_prose(text: str, *, tests: bool) -> Iterator[tuple[int, str]]:
    """Yield comments, docstrings and strings with a blank; of tests, no other strings: data."""
    begins = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        match token.type:
            case tokenize.COMMENT:
                yield token.start[0], token.string
            case tokenize.NEWLINE | tokenize.NL | tokenize.INDENT | tokenize.DEDENT:
                begins = begins or token.type is not tokenize.NL
            case tokenize.STRING if begins or (not tests and " " in token.string):
                yield token.start[0], token.string
                begins = False
            case tokenize.NAME if tests and token.string.startswith("test_"):
                yield token.start[0], token.string.replace("_", " ")
                begins = False
            case _:
                if token.string.strip() and token.type == getattr(tokenize, "FSTRING_MIDDLE", -1):
                    yield token.start[0], token.string
                begins = False


def words_of(path: Path) -> list[str]:
    """Return an error for each word of WORDS in a text."""
    text = path.read_text(encoding="utf-8")
    if not WORD.search(text.replace("_", " ")):
        return []
    uses = tuple(WORDS.values())
    return [
        f"{path}:{number}: {found[0]!r}: write {uses[(found.lastindex or 1) - 1]!r}"
        for number, line in prose_of(path, text)
        for found in WORD.finditer(line)
    ]


def names_of(path: Path) -> list[str]:
    """Return an error for each test whose name is a question, and each import of tests/unit."""
    if path.suffix not in SOURCES:
        return []
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        name = TEST_NAME.search(line)
        if name and re.match(QUESTION, name[1].removeprefix("test_")):
            found.append(f"{path}:{number}: {name[1]}: name the behaviour, not a question")
        if path.parts[0] == "benchmarks" and re.match("(from|import) tests[.]unit", line):
            found.append(f"{path}:{number}: move what is shared to tests/support")
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
    texts = [
        Path(name)
        for name in tracked
        if Path(name).suffix in TEXTS and not name.startswith((*WRITTEN_BY_US, *MAY_USE_WORDS))
    ]
    faults = [fault for path in sources if path.exists() for fault in faults_of(path)]
    faults += [fault for path in texts if path.exists() for fault in words_of(path)]
    faults += [
        fault
        for path in sources
        if path.exists() and not str(path).startswith(MAY_USE_WORDS)
        for fault in names_of(path)
    ]
    print("\n".join(faults) or f"{len(sources)} source files keep the house rules")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
