# SPDX-License-Identifier: Apache-2.0
"""M-Lab's own JavaScript client, from npm: installed once by name and version.

A registry may take a minute to answer. So `make test` runs this while it builds; the test that
needs the package installs it where that was not done.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

PACKAGE = "@m-lab/ndt7"
VERSION = "0.1.4"
CACHE = Path(__file__).parents[2] / "build" / "npm"


def installed() -> Path:
    """Where it is. Raises CalledProcessError when npm cannot install it."""
    found = CACHE / "node_modules" / PACKAGE
    manifest = found / "package.json"
    if not manifest.exists() or json.loads(manifest.read_text())["version"] != VERSION:
        CACHE.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]
        command = [*install, str(CACHE), f"{PACKAGE}@{VERSION}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=120)
    return found


if __name__ == "__main__":
    installed()
