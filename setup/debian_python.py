# SPDX-License-Identifier: Apache-2.0
"""Choose for each Python library that wirespeed needs: this Debian's package, or the locked wheel.

Usage: setup/debian_python.py ROOT WHEELS INPUTS. WHEELS holds the wheels of setup/locks/run.txt.
A library is taken from Debian where its version there satisfies pyproject.toml and every wheel
that is taken. Writes wheels (links), substvars and doc/libraries.txt in INPUTS, for debian/rules.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# hdrhistogram requires them to be built; it imports neither.
BUILD_ONLY = {"setuptools", "pbr"}
# Names of packages that are not python3-NAME.
PACKAGES = {"markdown-it-py": "python3-markdown-it", "hdrhistogram": "python3-hdrh",
            "pyyaml": "python3-yaml"}  # fmt: skip
# What Debian adds to a version: an epoch, +dfsg, ~rc, its own revision.
UPSTREAM = re.compile(r"(?:\d+:)?(\d+(?:\.\d+)*)")


@dataclass(frozen=True, slots=True)
class Library:
    """A wheel of the lock."""

    wheel: Path
    metadata: Message

    @property
    def version(self) -> str:
        return str(self.metadata["Version"])

    @property
    def licence(self) -> str:
        """SPDX expression, or the text or classifier that stands for it."""
        classifiers = self.metadata.get_all("Classifier", [])
        named = [each.split(" :: ")[-1] for each in classifiers if each.startswith("License ::")]
        return str(self.metadata["License-Expression"] or (named or ["see its folder"])[0])

    @property
    def requirements(self) -> Iterator[Requirement]:
        return needed(self.metadata.get_all("Requires-Dist", []))


def needed(lines: list[str]) -> Iterator[Requirement]:
    """Yield requirements without an extra that hold for this Python."""
    for line in lines:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement


def libraries(folder: Path) -> dict[str, Library]:
    found = {}
    for wheel in sorted(folder.glob("*.whl")):
        with ZipFile(wheel) as archive:
            name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
            metadata = HeaderParser().parsestr(archive.read(name).decode())
        found[canonicalize_name(metadata["Name"])] = Library(wheel, metadata)
    return {name: each for name, each in found.items() if name not in BUILD_ONLY}


def package_of(name: str) -> str:
    return PACKAGES.get(name, f"python3-{name}")


def candidates(names: list[str]) -> dict[str, str]:
    """Return the upstream version of each library that this Debian has, by the library's name."""
    known = {package_of(name): name for name in names}
    said = subprocess.run(
        ["apt-cache", "policy", *known], check=True, capture_output=True, text=True,
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
    ).stdout  # fmt: skip
    found = {}
    for package, version in re.findall(r"^(\S+):\n(?:.*\n)?  Candidate: (\S+)", said, re.MULTILINE):
        upstream = UPSTREAM.match(version)
        if package in known and upstream is not None:
            found[known[package]] = upstream[1]
    if not found:
        raise SystemExit("setup/debian_python.py: apt has no package list; run apt-get update")
    return found


def choose(
    own: list[Requirement], known: Mapping[str, Library], debian: Mapping[str, str]
) -> tuple[set[str], dict[str, Requirement]]:
    """Return the names of the wheels to take, and the requirements that Debian's packages meet."""
    wheels: set[str] = set()
    while True:
        wanted: dict[str, list[Requirement]] = {}
        for requirement in [*own, *(r for name in wheels for r in known[name].requirements)]:
            wanted.setdefault(canonicalize_name(requirement.name), []).append(requirement)
        lacking = {
            name
            for name, each in wanted.items()
            if name not in BUILD_ONLY | wheels
            and not all(name in debian and r.specifier.contains(debian[name]) for r in each)
        }
        if not lacking:
            met = {name: each[0] for name, each in wanted.items() if name not in wheels}
            return wheels, {name: r for name, r in met.items() if name not in BUILD_ONLY}
        wheels |= lacking


def depends(met: Mapping[str, Requirement], debian: Mapping[str, str]) -> str:
    """Return Depends of the package: the Python that wheels are built for, and libraries."""
    major, minor = sys.version_info[:2]
    named = [f"python3 (>= {major}.{minor})", f"python3 (<< {major}.{minor + 1})"]
    return ", ".join(named + [f"{package_of(name)} (>= {debian[name]})" for name in sorted(met)])


def main(root: Path, wheels: Path, inputs: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    known = libraries(wheels)
    debian = candidates(list(known))
    taken, met = choose(list(needed(project["dependencies"])), known, debian)
    (inputs / "wheels").mkdir(parents=True)
    (inputs / "doc").mkdir()
    rows = []
    for name in sorted(taken):
        library = known[name]
        (inputs / "wheels" / library.wheel.name).hardlink_to(library.wheel)
        there = f"Debian has {debian[name]}" if name in debian else "not in Debian"
        rows.append(f"{name:20} {library.version:10} {library.licence:45} {there}\n")
    (inputs / "doc" / "libraries.txt").write_text("".join(rows))
    (inputs / "substvars").write_text(f"python:Depends={depends(met, debian)}\n")
    print(f"Python libraries of Debian: {', '.join(sorted(met))}")
    print(f"Own copies: {', '.join(sorted(taken))}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
