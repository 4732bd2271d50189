# SPDX-License-Identifier: Apache-2.0
"""Choose the network namespace of an Open vSwitch, whose userspace datapath makes tap devices."""

from __future__ import annotations

import re

from wirespeed.bench.host.container import in_container
from wirespeed.bench.interface import BenchError
from wirespeed.remote.interface import Runner

# Prefix of a program that gets a namespace of its own.
OWN = ("unshare", "--net", "--")
_TAP = "/dev/net/tun"
_NET_ADMIN = 12  # capabilities(7)


def makes_own(runner: Runner) -> bool:
    """Return whether a program may get a namespace of its own, which containers seldom allow."""
    return runner.run([*OWN, "true"], check=False).exit_code == 0


def check(runner: Runner) -> None:
    """Raise BenchError in a container that allows no tap devices, neither here nor elsewhere."""
    if not in_container(runner) or makes_own(runner):
        return
    lacks = [] if runner.glob(_TAP) else [f"has no {_TAP}"]
    if not _capabilities(runner) >> _NET_ADMIN & 1:
        lacks.append("lacks the capability NET_ADMIN")
    if lacks:
        raise BenchError(
            f"Open vSwitch makes tap devices, and this container {' and '.join(lacks)}",
            f"Start it with `--cap-add NET_ADMIN --device {_TAP}`.",
        )


def _capabilities(runner: Runner) -> int:
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", runner.read("/proc/self/status"), re.MULTILINE)
    return int(found[1], 16) if found else 0
