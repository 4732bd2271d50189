# SPDX-License-Identifier: Apache-2.0
"""Read this host's Debian release, its package sources, and the packages of libraries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from wirespeed.image.errors import ImageError
from wirespeed.remote.interface import Runner

_SUITES = ("{suite}", "{suite}-updates", "{suite}-security")
_LIBRARY = re.compile(r"=> (/\S+)")
_FORMAT = "$(CREATED_BY)\t$(REPO_URI)\t$(RELEASE)\t$(COMPONENT)"


def suite(runner: Runner) -> str:
    """Return the code name, e.g. "bookworm". Raises ImageError where this is not Debian."""
    words = dict(
        line.split("=", 1) for line in runner.read("/etc/os-release").splitlines() if "=" in line
    )
    name, distribution = words.get("VERSION_CODENAME", "").strip('"'), words.get("ID", "?")
    if distribution != "debian" or not name:
        raise ImageError(
            f"images are built on Debian, and {runner.name} is {distribution} {name}".rstrip(),
            "Build on Debian 12 or newer.",
        )
    return name


def sources(runner: Runner, codename: str) -> str:
    """Return lines of a sources.list: the host's apt sources of that suite, component main.

    mmdebstrap finds the keys. Raises ImageError where apt has no source of the suite.
    """
    told = runner.run(["apt-get", "indextargets", "--format", _FORMAT]).stdout
    wanted = {each.format(suite=codename) for each in _SUITES}
    lines: dict[str, None] = {}
    for line in told.splitlines():
        made_by, uri, release, component = line.split("\t")
        if made_by == "Packages" and component == "main" and release in wanted:
            lines[f"deb {uri} {release} main"] = None
    if not lines:
        raise ImageError(
            f"apt on {runner.name} has no package list of Debian {codename}, component main",
            "Run `apt-get update`, and see the sources in /etc/apt.",
        )
    return "".join(f"{line}\n" for line in lines)


def packages_of_libraries(runner: Runner, programs: Sequence[Path]) -> tuple[str, ...]:
    """Return the packages of the shared libraries that these programs are linked to, sorted."""
    told = runner.run(["ldd", *map(str, programs)]).stdout
    libraries = {runner.readlink(path) for path in _LIBRARY.findall(told)}
    # Debian 12 has /lib as a link to /usr/lib, and packages that name either. A search with exact
    # paths is immediate; one with patterns takes seconds.
    below = {path.removeprefix("/usr") for path in libraries}
    names = sorted(below | {f"/usr{path}" for path in below})
    owners = runner.run(["dpkg-query", "--search", *names], check=False, timeout_s=120.0).stdout
    found = set()
    for line in owners.splitlines():
        owner, _, path = line.partition(": ")
        if not owner.startswith("diversion ") and runner.readlink(path) in libraries:
            found.add(owner.partition(":")[0])
    return tuple(sorted(found))


def dpdk_abi(packages: Sequence[str]) -> str:
    """Return the suffix of DPDK's library packages, e.g. "23" of librte-eal23."""
    for name in packages:
        if found := re.fullmatch(r"librte-eal(\d+)", name):
            return found[1]
    raise ImageError("wsdp is not linked to DPDK's shared libraries", "Run `make dataplane`.")
