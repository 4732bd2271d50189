# SPDX-License-Identifier: Apache-2.0
"""Install M-Lab's own JavaScript client, from npm, as setup/locks/npm locks it by SHA-512.

A registry may take a minute to answer. So `make test` runs this while it builds; the test that
needs the package installs it where that was not done.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

PACKAGE = "@m-lab/ndt7"
ROOT = Path(__file__).parents[2]
LOCK = ROOT / "setup" / "locks" / "npm"
CACHE = ROOT / "build" / "npm"


def installed(lock: Path = LOCK, folder: Path = CACHE) -> Path:
    """Return the package's folder below `folder`.

    Raises CalledProcessError where npm cannot install what is locked.
    """
    found = folder / "node_modules" / PACKAGE
    # npm notes there what it has installed.
    note = folder / "node_modules" / ".package-lock.json"
    if note.exists() and integrity(note) == integrity(lock / "package-lock.json"):
        return found
    folder.mkdir(parents=True, exist_ok=True)
    for file in ("package.json", "package-lock.json"):
        shutil.copy(lock / file, folder)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=120)
    return found


def integrity(lock: Path) -> dict[str, str | None]:
    """Return the hash of each package of a package-lock.json, by its folder; None without one."""
    packages = json.loads(lock.read_text())["packages"]
    return {name: one.get("integrity") for name, one in packages.items() if name}


if __name__ == "__main__":
    installed()
