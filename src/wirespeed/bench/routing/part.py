# SPDX-License-Identifier: Apache-2.0
"""Give a router of the kernel its generated routes as a component of a bench.

The router's ports exist before it starts. With a daemon, a BGP peer in a namespace of its own
announces the routes over a cable of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.network import Network, VethEnd, VethPair, inside
from wirespeed.bench.host.process import Daemon, DaemonsPart
from wirespeed.bench.interface import HopCount
from wirespeed.bench.routing.kernel import RouterNamespace, load_s
from wirespeed.bench.routing.programs import BIRD, check_daemon, frr_program, version
from wirespeed.bench.routing.table import RoutingTable
from wirespeed.bench.routing.texts import bird, frr_bgpd, ip_commands, peer, peer_end, router_end
from wirespeed.model.study.routing import RoutingDaemon

_PEER, _CABLE = "peer", "bgp"
_MACS = ("02:03:00:00:00:00", "02:03:01:00:00:00")
_MTU = 1500
# Counting a full table takes a tenth of a second of the CPU that loads it.
_LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class RoutesSetup:
    """A router of the kernel, and the table that it gets."""

    host: Host
    dirs: Directories
    namespace: str
    table: RoutingTable
    cpus: tuple[int, ...]
    """CPUs of the daemons."""


class GeneratedRoutes(DaemonsPart):
    """Routes by `ip -batch`; base of those that daemons learn."""

    name = "routes"

    def __init__(self, setup: RoutesSetup) -> None:
        super().__init__()
        self._setup, self._routing = setup, setup.table.routing
        self._router = RouterNamespace(setup.host.runner, setup.namespace)
        self._looked_s, self._missing = 0.0, "routes"

    @property
    def ready_s(self) -> float:
        """Longest time that the routes take, in seconds."""
        return load_s(self._routing)

    def up(self) -> None:
        self._router.prepare(self._setup.table)
        self.load()

    def load(self) -> None:
        """Give the routes to the kernel, or begin to."""
        for ip_version in self._routing.versions:
            commands = ip_commands(self._setup.table, ip_version)
            self._router.batch(commands, 30.0 + self.ready_s)

    def waits_for(self) -> str | None:
        if self._missing and time.monotonic() - self._looked_s > _LOOK_S:
            self._missing = self._find_missing()
            self._looked_s = time.monotonic()
        return self._missing or None

    def _find_missing(self) -> str:
        """Return which routes the kernel has not; empty once it has all."""
        statistics = self._router.prefixes()
        for ip_version in self._routing.versions:
            wanted = self._routing.prefixes(ip_version)
            found, complete = statistics[ip_version], False
            if found >= wanted:
                found, complete = self._router.complete(ip_version, self._routing)
            if not complete:
                hops = f", of {self._routing.ecmp} next hops each" * (self._routing.ecmp > 1)
                return f"IPv{ip_version} routes: {found} of {wanted}{hops}"
        return ""

    def settings(self) -> Mapping[str, str]:
        """Return the number of routes; see noise.settings.Configured."""
        found = self._router.prefixes()
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
            "versions": version(self._setup.host.runner, self._routing.daemon),
        }


class LearnedRoutes(GeneratedRoutes):
    """Routes that a routing daemon learns from a BGP peer."""

    def up(self) -> None:
        check_daemon(self._setup.host.runner, self._routing)
        super().up()

    def load(self) -> None:
        """Start the peer, then the router's daemons."""
        namespace = self._cabled()
        table = self._setup.table
        self._start_bird(_PEER, namespace, peer(table))
        if self._routing.daemon is RoutingDaemon.BIRD:
            self._start_bird("bird", self._setup.namespace, bird(table))
        else:
            self._start_frr("zebra", ())
            self._start_frr("bgpd", frr_bgpd(table))

    def _cabled(self) -> str:
        """Make the peer's namespace and its cable to the router; return the name."""
        network = Network(self._setup.host, self._setup.dirs.tag)
        namespace = network.host(_PEER)
        ends = [
            VethEnd(where, _CABLE, mac)
            for where, mac in zip((self._setup.namespace, namespace), _MACS, strict=True)
        ]
        network.connect(VethPair(*ends), _MTU)
        for where, address in ((self._setup.namespace, router_end), (namespace, peer_end)):
            addresses = (address(session) for session in range(self._routing.ecmp))
            RouterNamespace(self._setup.host.runner, where).batch(
                f"address add {each}/24 dev {_CABLE}" for each in addresses
            )
        return namespace

    def _start_bird(self, name: str, namespace: str, lines: Iterable[str]) -> None:
        file = self._write(name, lines)
        socket = str(self._setup.dirs.run / f"{name}.ctl")
        self._start(name, namespace, [BIRD, "-f", "-c", file, "-s", socket])

    def _start_frr(self, name: str, lines: Iterable[str]) -> None:
        file, run = self._write(name, lines), self._setup.dirs.run
        # As root, for the run directory is root's; FRR wants a user of the group of its terminals.
        words = [
            frr_program(name), "-f", file, "-i", str(run / f"{name}.pid"), "-P", "0",
            "-z", str(run / "zserv.api"), "--vty_socket", str(run), "-u", "root", "-g", "frrvty",
            "--log", "stdout",
        ]  # fmt: skip
        daemon = self._start(name, self._setup.namespace, words)
        if name == "zebra":
            daemon.await_socket(str(run / "zserv.api"), 30.0)

    def _start(self, name: str, namespace: str, words: Sequence[str]) -> Daemon:
        daemon = Daemon(name, self._setup.host, self._setup.dirs)
        self._daemons.append(daemon)
        daemon.start([*inside(namespace), *words], cpus=self._setup.cpus)
        return daemon

    def _write(self, name: str, lines: Iterable[str]) -> str:
        """Write a configuration file; return its path."""
        path = str(self._setup.dirs.run / f"{name}.conf")
        self._setup.host.runner.write(path, "".join(f"{line}\n" for line in lines))
        return path


def routes_part(setup: RoutesSetup) -> GeneratedRoutes:
    """Return the component that gives the router its routes."""
    static = setup.table.routing.daemon is RoutingDaemon.STATIC
    return GeneratedRoutes(setup) if static else LearnedRoutes(setup)
