# SPDX-License-Identifier: Apache-2.0
"""Give a router of the kernel its generated routes as a component of a bench.

The router's ports exist before it starts.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.process import Daemon, DaemonsPart
from wirespeed.bench.interface import HopCount
from wirespeed.bench.routing.kernel import GENERATOR_MACS, RouterNamespace, load_s
from wirespeed.bench.routing.memory import peaks_mib, slab_kib
from wirespeed.bench.routing.notifications import BUFFER_BYTES, OBJECTS
from wirespeed.bench.routing.programs import version
from wirespeed.bench.routing.table import Hop, RoutingTable, hop_address
from wirespeed.bench.routing.texts import change_commands, ip_commands

# Counting a full table takes a tenth of a second of the CPU that loads it.
_LOOK_S = 0.5


@runtime_checkable
class LoadsRoutes(Protocol):
    """A component that is ready once routes are loaded."""

    @property
    def ready_s(self) -> float:
        """Longest time that the routes take, in seconds."""
        ...

    @property
    def routes(self) -> GeneratedRoutes:
        """Return what loads them."""
        ...

    def missing(self) -> str:
        """Return which routes are not in force; empty if all are."""
        ...


@dataclass(frozen=True, slots=True)
class RoutesSetup:
    """A router of the kernel, and the table that it gets."""

    host: Host
    dirs: Directories
    namespace: str
    table: RoutingTable
    cpus: tuple[int, ...]
    """CPUs of the daemons."""
    targets: Mapping[int, str] = field(default_factory=lambda: GENERATOR_MACS)
    """MAC address of the next hops by port."""


class GeneratedRoutes(DaemonsPart):
    """Routes by `ip -batch`; base of those that daemons learn."""

    name = "routes"

    def __init__(self, setup: RoutesSetup) -> None:
        super().__init__()
        self._setup, self._routing = setup, setup.table.routing
        self.router = RouterNamespace(setup.host.runner, setup.namespace)
        self._looked_s, self._missing = 0.0, "routes"
        self._slab_kib = 0

    @property
    def ready_s(self) -> float:
        """Longest time that the routes take, in seconds."""
        return load_s(self._routing)

    def up(self) -> None:
        self.prepare()
        self.load()

    def prepare(self) -> None:
        """Give the router's ports, which exist, their addresses and neighbours."""
        self._slab_kib = slab_kib(self._setup.host.runner)
        self.router.prepare(self._setup.table, self._setup.targets)

    def waits_for_ports(self) -> str | None:
        """Return what the ports lack before routes are loaded; None if nothing."""
        return None

    def load(self) -> None:
        """Give the routes to the kernel, or begin to."""
        for ip_version in self._routing.versions:
            commands = ip_commands(self._setup.table, ip_version)
            self.router.batch(commands, 30.0 + self.ready_s)

    def waits_for(self) -> str | None:
        if self._missing and time.monotonic() - self._looked_s > _LOOK_S:
            self._missing = self._find_missing()
            self._looked_s = time.monotonic()
        return self._missing or None

    def _find_missing(self) -> str:
        """Return which routes the kernel has not; empty once it has all."""
        statistics = self.router.prefixes()
        for ip_version in self._routing.versions:
            wanted = self._routing.prefixes(ip_version)
            found, complete = statistics[ip_version], False
            if found >= wanted:
                found, complete = self.router.complete(ip_version, self._routing)
            if not complete:
                hops = f", of {self._routing.ecmp} next hops each" * (self._routing.ecmp > 1)
                return f"IPv{ip_version} routes: {found} of {wanted}{hops}"
        return ""

    @property
    def routes(self) -> GeneratedRoutes:
        return self

    @property
    def table(self) -> RoutingTable:
        return self._setup.table

    @property
    def targets(self) -> Mapping[int, str]:
        """Return the MAC address of the next hops by port."""
        return self._setup.targets

    def watch_kernel(self) -> Daemon:
        """Start to record the kernel's notifications; it ends with the routes."""
        words = ["env", "TZ=UTC", "ip", "-n", self._setup.namespace, "-rcvbuf", str(BUFFER_BYTES)]
        monitor = Daemon("notifications", self._setup.host, self._setup.dirs)
        self._daemons.append(monitor)
        monitor.start([*words, "-ts", "monitor", "label", *OBJECTS], cpus=self._setup.cpus)
        return monitor

    def missing(self) -> str:
        return self._find_missing()

    def leads_to(self, *, backup: bool) -> bool:
        """Return whether all routes lead to the backup, or none of them."""
        table, wanted = self._setup.table, 0
        found = 0
        for ip_version in self._routing.versions:
            wanted += self._routing.prefixes(ip_version)
            for port in table.ports:
                address = hop_address(ip_version, table.backup(Hop(port, 0)))
                found += self.router.leading_to(address, ip_version, self._routing)
        return found == (wanted if backup else 0)

    def change(self, group: int, *, announces: bool) -> None:
        """Withdraw a group of routes that change, or announce it again."""
        word = "add" if announces else "del"
        self.router.batch(change_commands(self._setup.table, group, word))

    def settings(self) -> Mapping[str, str]:
        """Return the number of routes; see noise.settings.Configured."""
        found = self.router.prefixes()
        return {f"IPv{v} prefixes": str(found[v]) for v in self._routing.versions}

    def begin(self) -> None:
        """Do nothing: it counts nothing."""

    def read(self) -> tuple[HopCount, ...]:
        return ()

    def down(self) -> None:
        """Kill the daemons; their orderly end would take each route back."""
        for daemon in reversed(self._daemons):
            daemon.kill()

    def describe(self) -> Mapping[str, object]:
        return {
            "daemon": str(self._routing.daemon),
            "prefixes": {f"IPv{v}": self._routing.prefixes(v) for v in self._routing.versions},
            "next hops": len(self._setup.table.hops),
            "commands": [" ".join(daemon.command) for daemon in self._daemons],
            "memory_mib": self._memory_mib(),
            "versions": version(self._setup.host.runner, self._routing),
        }

    def _memory_mib(self) -> Mapping[str, int]:
        """Return the peak of each daemon, and by how much the host's kernel has grown."""
        runner = self._setup.host.runner
        grown = max(0, slab_kib(runner) - self._slab_kib) // 1024
        return {**peaks_mib(runner, self._daemons), "kernel slab": grown}
