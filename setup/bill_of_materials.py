# SPDX-License-Identifier: Apache-2.0
"""Print a bill of materials (CycloneDX 1.5) of what the packages contain, from the lock files.

Usage: setup/bill_of_materials.py ROOT. Reads setup/locks/run.txt (pip) and speedtest/Cargo.lock.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PIP = re.compile(r"^([A-Za-z0-9_.-]+)==(\S+)", re.MULTILINE)


def pip_components(lock: str) -> Iterator[dict[str, Any]]:
    """Yield each requirement of a lock file with the hashes of its wheels."""
    for entry in re.split(r"\n(?=\S)", lock.replace("\\\n", " ")):
        named = _PIP.match(entry)
        if named is None:
            continue
        name, version = named[1].lower().replace("_", "-"), named[2]
        yield {
            "type": "library",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name}@{version}",
            "properties": [
                {"name": "wheel:sha256", "value": each}
                for each in re.findall(r"sha256:([0-9a-f]{64})", entry)
            ],
        }


def cargo_components(lock: str) -> Iterator[dict[str, Any]]:
    """Yield each package of a Cargo.lock that comes from a registry."""
    for package in tomllib.loads(lock)["package"]:
        if "source" in package:
            yield {
                "type": "library",
                "name": package["name"],
                "version": package["version"],
                "purl": f"pkg:cargo/{package['name']}@{package['version']}",
                "hashes": [{"alg": "SHA-256", "content": package["checksum"]}],
            }


def bill(root: Path) -> dict[str, Any]:
    """Return the document for the source tree at `root`."""
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "wirespeed", "version": version}},
        "components": [
            *pip_components((root / "setup/locks/run.txt").read_text()),
            *cargo_components((root / "speedtest/Cargo.lock").read_text()),
        ],
    }


if __name__ == "__main__":
    json.dump(bill(Path(sys.argv[1])), sys.stdout, indent=1)
