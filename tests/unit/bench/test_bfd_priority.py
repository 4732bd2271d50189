# SPDX-License-Identifier: Apache-2.0
"""Check which programs of a router with BFD run by real-time priority."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.unit.bench.test_kernel_router import Notes, Recording
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.routing.learned import LearnedRoutes
from wirespeed.bench.routing.part import RoutesSetup
from wirespeed.bench.routing.table import RoutingTable
from wirespeed.model.study.spec import Routing, RoutingDaemon
from wirespeed.remote.interface import Completed, Process


class Spawned:
    pid = 7

    def poll(self) -> None:
        return None


class Programs(Recording):
    """A host with all programs that starts none of them, and may refuse real-time priority."""

    def __init__(self, *, permits: bool) -> None:
        super().__init__()
        self._permits = permits
        self.spawned: list[str] = []

    def glob(self, *patterns: str) -> list[str]:
        return list(patterns)

    def run(self, argv: Sequence[str], **settings: Any) -> Completed:
        done = super().run(argv, **settings)
        refused = argv[0] == "chrt" and not self._permits
        return replace(done, exit_code=int(refused), stdout="0")

    def spawn(self, argv: Sequence[str], **_: Any) -> Process:
        self.spawned.append(" ".join(argv))
        return Spawned()  # type: ignore[return-value]


def urgent(routing: Routing, *, permits: bool = True) -> list[str]:
    """Return the programs that are started by real-time priority."""
    runner = Programs(permits=permits)
    host = Host(runner, Path("/state"), Notes())
    dirs = Directories(PurePosixPath("/run/t"), PurePosixPath("/log"), "t")
    routes = LearnedRoutes(RoutesSetup(host, dirs, "r", RoutingTable(routing, (1,)), (1,)))
    routes.prepare()
    routes.load()
    started = [words.split(" chrt --rr 1 ") for words in runner.spawned]
    return [words[1].split()[0] for words in started if len(words) > 1]


@pytest.mark.parametrize(
    ("daemon", "expected"),
    [
        (RoutingDaemon.FRR, ["/usr/sbin/bird", "/usr/sbin/bird", "/usr/lib/frr/bfdd"]),
        # The router's own BIRD also computes routes.
        (RoutingDaemon.BIRD, ["/usr/sbin/bird", "/usr/sbin/bird"]),
    ],
)
def test_bfdd_and_the_peers_are_urgent_with_bfd(daemon: RoutingDaemon, expected: list[str]) -> None:
    routing = Routing(daemon, ipv4=10, backup=True, bfd=True)
    assert urgent(routing) == expected


def test_nothing_is_urgent_without_bfd_or_permission() -> None:
    assert urgent(Routing(RoutingDaemon.FRR, ipv4=10, backup=True)) == []
    routing = Routing(RoutingDaemon.FRR, ipv4=10, backup=True, bfd=True)
    assert urgent(routing, permits=False) == []
