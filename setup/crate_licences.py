# SPDX-License-Identifier: Apache-2.0
"""Print the licence texts of all crates that a Cargo workspace uses, each text once.

Usage: setup/crate_licences.py WORKSPACE. The crates have been fetched; no network is asked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PLATFORM = "x86_64-unknown-linux-gnu"
NAMES = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "UNLICENSE*")


def crates(workspace: Path) -> list[dict[str, Any]]:
    """Return the crates of registries, as `cargo metadata` describes them."""
    said = subprocess.run(
        ["cargo", "metadata", "--locked", "--offline", "--format-version", "1",
         "--filter-platform", PLATFORM],
        cwd=workspace, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    return [each for each in json.loads(said)["packages"] if each["source"]]


def texts(crate: dict[str, Any]) -> Iterator[str]:
    folder = Path(crate["manifest_path"]).parent
    for path in sorted({path for name in NAMES for path in folder.glob(name)}):
        if path.is_file():
            yield path.read_text(encoding="utf-8", errors="replace").strip()


def report(described: list[dict[str, Any]]) -> str:
    """Return a list of the crates with their licences, then each text with its crates."""
    using: dict[str, list[str]] = {}
    lines = []
    for crate in described:
        name = f"{crate['name']} {crate['version']}"
        lines.append(f"{name}: {crate['license']}")
        for text in texts(crate):
            using.setdefault(text, []).append(name)
    parts = [f"{', '.join(names)}\n\n{text}" for text, names in using.items()]
    return ("\n" + "-" * 80 + "\n").join(["\n".join(lines), *parts]) + "\n"


if __name__ == "__main__":
    print(report(crates(Path(sys.argv[1]))), end="")
