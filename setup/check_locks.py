# SPDX-License-Identifier: Apache-2.0
"""Check the lock files without a network.

In every lock of setup/locks, each package has one version, the hashes of its wheels and an allowed
licence. All requirements of pyproject.toml and of the packages are in the lock and satisfied, for
each Python of PYTHONS. In speedtest/Cargo.lock, each crate comes from the one registry with a
checksum, one version and an allowed licence. setup/locks/allowed.toml lists the allowed licences
and the exceptions with their reasons. Prints one line per error and exits 1 if there is any.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from license_expression import ExpressionError, Licensing
from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
ALLOWED = "setup/locks/allowed.toml"
PYTHONS = ("3.11", "3.13")
PLATFORM = "x86_64-unknown-linux-gnu"
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
SITE = "lib/python3*/site-packages"


@dataclass(frozen=True)
class Purpose:
    """Use of a lock in pyproject.toml, and the environment in which linters find it installed."""

    program: bool = False
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    environment: str | None = None


PURPOSES = {
    "run": Purpose(program=True, environment=".venv"),
    "build": Purpose(groups=("build",), environment=".venv"),
    "dev": Purpose(True, ("dev", "postgresql"), ("build",), ".venv"),
    "nova": Purpose(True, ("nova",), ("build",), ".venv-nova"),
    # Not installed: its packages neither run nor test the program.
    "lock": Purpose(groups=("lock",)),
}


@dataclass
class Allowed:
    """Entries of allowed.toml, with the exceptions that were needed."""

    licences: Collection[str]
    packages: dict[str, dict[str, str]]
    duplicates: dict[str, str]
    used: set[str] = field(default_factory=set)

    def licence(self, package: str, expression: str) -> bool:
        if accepted(expression, self.licences):
            return True
        self.used.add(package)
        return self.packages.get(package, {}).get("licence") == expression

    def duplicate(self, crate: str) -> bool:
        self.used.add(crate)
        return crate in self.duplicates

    def unused(self) -> list[str]:
        return [
            f"{ALLOWED}: {name}: nothing needs this entry; remove it"
            for name in sorted((self.packages.keys() | self.duplicates.keys()) - self.used)
        ]


def accepted(expression: str, licences: Collection[str]) -> bool:
    """Return whether the allowed licences satisfy an SPDX expression; "/" is Cargo's former OR."""
    if expression in licences:
        return True
    licensing = Licensing()
    try:
        parsed = licensing.parse(expression.replace("/", " OR "))
    except ExpressionError:
        return False
    if parsed is None:
        return False
    values = {
        symbol: licensing.TRUE if str(symbol) in licences else licensing.FALSE
        for symbol in parsed.symbols
    }
    return bool(parsed.subs(values).simplify() == licensing.TRUE)


def locked(text: str) -> tuple[dict[str, Requirement], list[str]]:
    """Read a pip lock; return its packages by name, and its errors."""
    found: dict[str, Requirement] = {}
    errors = []
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        words, *hashes = re.split(r"\s+(?=--)", line.strip())
        try:
            requirement = Requirement(words)
        except InvalidRequirement:
            errors.append(f"{words}: not a package with a version; run `make lock`")
            continue
        name = canonicalize_name(requirement.name)
        if requirement.url or not re.fullmatch(r"==[^*,=]+", str(requirement.specifier)):
            errors.append(f"{name}: has no single version; run `make lock`")
        if not hashes or not all(HASH.fullmatch(word) for word in hashes):
            errors.append(f"{name}: has no SHA-256 or another option; run `make lock`")
        if name in found:
            errors.append(f"{name}: is there twice; run `make lock`")
        found[name] = requirement
    return found, errors


def requirement_errors(
    lock: Mapping[str, Requirement], wanted: Iterable[str], known: Mapping[str, Distribution]
) -> Iterator[str]:
    """Compare a lock with the wanted requirements and all their dependencies.

    `known` holds the installed packages, whose metadata lists their dependencies.
    """
    reached = set()
    for python in PYTHONS:
        environment = {
            **default_environment(), "python_version": python, "python_full_version": f"{python}.0",
        }  # fmt: skip
        ahead = [("pyproject.toml", Requirement(text), "") for text in wanted]
        seen = set()
        while ahead:
            by, requirement, extra = ahead.pop()
            if not applies(requirement, {**environment, "extra": extra}):
                continue
            name = canonicalize_name(requirement.name)
            reached.add(name)
            if name not in lock or not applies(lock[name], environment):
                yield f"{name}: {by} requires it on Python {python}; run `make lock`"
                continue
            version = version_of(lock[name])
            if not requirement.specifier.contains(version, prereleases=True):
                yield f"{name} {version}: {by} requires {requirement}; run `make lock`"
            for needed in ("", *requirement.extras):
                if name in known and (name, needed) not in seen:
                    seen.add((name, needed))
                    ahead += [
                        (name, Requirement(text), needed) for text in known[name].requires or ()
                    ]
    yield from (f"{name}: nothing requires it; run `make lock`" for name in lock.keys() - reached)


def applies(requirement: Requirement, environment: dict[str, str]) -> bool:
    return requirement.marker is None or requirement.marker.evaluate(environment)


def version_of(pin: Requirement) -> str:
    return str(pin.specifier).removeprefix("==")


def licence_of(distribution: Distribution) -> str:
    """Read the licence of an installed package: an SPDX expression where it gives one."""
    metadata = distribution.metadata
    if expression := metadata.get("License-Expression"):
        return expression
    classifiers = [
        text.rpartition(" :: ")[2]
        for text in metadata.get_all("Classifier") or ()
        if text.startswith("License :: OSI Approved :: ")
    ]
    return " AND ".join(classifiers) or (metadata.get("License") or "").partition("\n")[0]


def absent(lock: Mapping[str, Requirement], known: Mapping[str, Distribution]) -> list[str]:
    """List packages of a lock that are not installed in its version: their metadata is unknown."""
    return [
        f"{name} {version_of(pin)}"
        for name, pin in lock.items()
        if applies(pin, {}) and (name not in known or known[name].version != version_of(pin))
    ]


def licence_errors(
    packages: Iterable[str], known: Mapping[str, Distribution], allowed: Allowed
) -> Iterator[str]:
    for name in packages:
        if name in known and not allowed.licence(name, licence_of(known[name])):
            yield f"{name}: its licence is '{licence_of(known[name])}'; see {ALLOWED}"


def wanted(project: dict[str, Any], purpose: Purpose) -> list[str]:
    """List the requirements of pyproject.toml for a lock."""
    found = [*project["project"]["dependencies"]] if purpose.program else []
    for extra in purpose.extras:
        found += project["project"]["optional-dependencies"][extra]
    for group in purpose.groups:
        found += project["dependency-groups"][group]
    return found + (project["build-system"]["requires"] if "build" in purpose.groups else [])


def pip_errors(root: Path, allowed: Allowed) -> Iterator[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    for name, purpose in PURPOSES.items():
        path = f"setup/locks/{name}.txt"
        lock, errors = locked((root / path).read_text())
        if purpose.environment is not None:
            site = [str(found) for found in root.glob(f"{purpose.environment}/{SITE}")]
            known: dict[str, Distribution] = {
                canonicalize_name(found.name): found for found in distributions(path=site)
            }
            if lacking := absent(lock, known):
                lacks = f"{purpose.environment}: not installed as locked: {', '.join(lacking)}"
                errors.append(f"{lacks}; remove {purpose.environment} and run `make lint` again")
            else:
                errors += requirement_errors(lock, wanted(project, purpose), known)
                errors += licence_errors(lock, known, allowed)
        yield from (f"{path}: {error}" for error in dict.fromkeys(errors))


def source_errors(lock: dict[str, Any], ours: Collection[str]) -> Iterator[str]:
    """Check the sources of the crates in a parsed Cargo.lock; `ours` are in this repository."""
    for package in lock["package"]:
        name, source = package["name"], package.get("source")
        if source is None and name in ours:
            continue
        if source != REGISTRY:
            yield f"{name}: comes from {source or 'a folder'}, not from the registry"
        if not re.fullmatch(r"[0-9a-f]{64}", package.get("checksum", "")):
            yield f"{name}: has no checksum"


def crate_errors(crates: Iterable[dict[str, Any]], allowed: Allowed) -> Iterator[str]:
    """Check versions and licences of the crates in the output of `cargo metadata`."""
    versions = defaultdict(list)
    for crate in crates:
        name, licence = crate["name"], crate["license"] or ""
        versions[name].append(crate["version"])
        if not allowed.licence(name, licence):
            yield f"{name}: its licence is '{licence}'; see {ALLOWED}"
    for name, found in versions.items():
        if len(found) > 1 and not allowed.duplicate(name):
            yield f"{name}: {len(found)} versions, {', '.join(found)}; see {ALLOWED}"


def cargo_errors(workspace: Path, allowed: Allowed) -> list[str]:
    """Check a workspace's Cargo.lock; ask cargo only about a lock with valid sources."""
    lock = tomllib.loads((workspace / "Cargo.lock").read_text())
    manifests = (tomllib.loads(path.read_text()) for path in workspace.glob("*/Cargo.toml"))
    ours = {manifest["package"]["name"] for manifest in manifests}
    errors = list(source_errors(lock, ours)) or crate_errors(built_crates(workspace), allowed)
    return [f"{workspace.name}/Cargo.lock: {error}" for error in errors]


def built_crates(workspace: Path) -> list[dict[str, Any]]:
    """Return the crates that cargo builds for PLATFORM. Raises CalledProcessError."""
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1"]
    done = subprocess.run(
        [*command, "--filter-platform", PLATFORM], cwd=workspace, check=True, stdout=subprocess.PIPE
    )
    crates: list[dict[str, Any]] = json.loads(done.stdout)["packages"]
    return crates


def main() -> int:
    allowed = Allowed(**tomllib.loads((ROOT / ALLOWED).read_text()))
    errors = [*pip_errors(ROOT, allowed), *cargo_errors(ROOT / "speedtest", allowed)]
    # An error may hide the need for an exception.
    errors = errors or allowed.unused()
    print("\n".join(errors) or "Every lock file is sound")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
