# SPDX-License-Identifier: Apache-2.0
"""Run wsdp's router in a process that follows the kernel of a network namespace.

Routes reach the kernel by ip(8) or by a routing daemon, and from there the router's tables.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from wirespeed.bench.function.counts import TaskCounts
from wirespeed.bench.function.fib_memory import roomy_fib_bytes
from wirespeed.bench.function.forwarder import lanes, task_between
from wirespeed.bench.function.generated_routes import generated_tables
from wirespeed.bench.function.interface import Demand, Setup
from wirespeed.bench.function.l3fwd import stream_prefixes
from wirespeed.bench.function.wsdp_tasks import WsdpFunction
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.program.config import WsdpConfig, WsdpTask
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.bench.routing.learned import routes_part
from wirespeed.bench.routing.part import GeneratedRoutes, RoutesSetup
from wirespeed.bench.routing.table import RoutingTable
from wirespeed.bench.routing.taps import TapNamespace, TapPort
from wirespeed.bench.topology.routes import most_destinations
from wirespeed.bench.topology.wiring import PORTS
from wirespeed.model.study.routing import Routing
from wirespeed.model.study.spec import Frames
from wirespeed.remote.interface import Process

_VERSIONS = (4, 6)
# Tables in force, those that replace them, and what tables of other sizes left between them.
_COPIES = 3
# Figures that other programs may change; changes of routes by the bench end as they began.
_SETTINGS = ("routes_ipv4", "routes_ipv6")
_ETHERNET_MTU = 1500
# A comparison of full tables takes seconds of a CPU.
_LOOK_S = 0.2


def kernel_demand(frames: Frames, routing: Routing) -> Demand:
    """Return the memory of the tables, which have room for changes, and the namespace."""
    streams = len(frames.directions) * frames.topology.vnfs
    flows = streams * most_destinations(frames.traffic.flows)
    each = 0
    for version in _VERSIONS:
        prefixes = routing.prefixes(version)
        tables = generated_tables(version, prefixes, routing.seed) if prefixes else 0
        own = flows if version == frames.traffic.ip_version else 0
        # The kernel has addresses and next hops of its own as routes, too.
        own += 8 * routing.next_hops
        each += roomy_fib_bytes(version, prefixes + own, tables + own)
    # Each router has a process of its own, which the plan gives this memory.
    return Demand(tables_bytes=_COPIES * each, own_namespace=True)


class KernelRouter(WsdpFunction):
    """The process, its namespace and the source of its routes as one component."""

    def __init__(
        self, program: Wsdp, counts: TaskCounts, namespace: TapNamespace, routes: GeneratedRoutes
    ) -> None:
        super().__init__(program, [counts])
        self._namespace = namespace
        self._task = counts.roles[0].task
        self.routes = routes
        self._is_loaded, self._looked_s, self._missing = False, 0.0, "routes"
        self._empty_bytes = 0

    @property
    def ready_s(self) -> float:
        """Longest time that the routes take, in seconds."""
        return self.routes.ready_s

    def up(self) -> None:
        self._namespace.make()
        self.routes.prepare()
        super().up()

    def waits_for(self) -> str | None:
        if (starting := super().waits_for()) is not None:
            return starting
        if not self._is_loaded:
            if (ports := self.routes.waits_for_ports()) is not None:
                return ports
            self._is_loaded = True
            self._empty_bytes = self.program.heap_bytes()
            self.routes.load()
        if (missing := self.routes.waits_for()) is not None:
            return missing
        if self._missing and time.monotonic() - self._looked_s > _LOOK_S:
            self._missing = self.behind()
            self._looked_s = time.monotonic()
        return self._missing or None

    def behind(self) -> str:
        """Return how its tables differ from the kernel's; empty once they agree."""
        seen = self.program.ask(f"task,{self._task}")
        if not (seen["in_step"] and seen["spare_tables"]):
            return "wsdp's tables to follow the kernel"
        found = self.program.compare_tables(self._task)
        if not found.count:
            return ""
        first = min(map(str, found.differences), default="")
        return f"wsdp's tables to agree with the kernel: {found.count} differences, {first}"

    def missing(self) -> str:
        """Return which routes kernel or tables lack; empty if they have all and agree."""
        return self.routes.missing() or self.behind()

    def alive(self) -> str | None:
        return super().alive() or self.routes.alive()

    @property
    def processes(self) -> tuple[Process, ...]:
        return (*super().processes, *self.routes.processes)

    def settings(self) -> Mapping[str, str]:
        """Return the settings of process and kernel; see noise.settings.Configured."""
        return {**super().settings(), **self.routes.settings()}

    def describe(self) -> Mapping[str, object]:
        heap = {"without routes": self._empty_bytes >> 20, "now": self.program.heap_bytes() >> 20}
        found = {**self.routes.describe(), "wsdp heap, MiB": heap}
        return {**super().describe(), "routing": found}

    def down(self) -> None:
        self.routes.down()
        super().down()


def kernel_router(
    host: Host, dirs: Directories, process: WsdpConfig, setup: Setup, counts: TaskCounts
) -> KernelRouter:
    """Build the router of a point with [routing]."""
    frames, routing = setup.frames, setup.frames.routing
    if routing is None:
        raise ValueError(f"{setup.name} follows a kernel without [routing]")
    ports = tuple(tap_ports(setup))
    versions = frozenset((*routing.versions, frames.traffic.ip_version))
    namespace = TapNamespace(host, dirs.tag, setup.name, ports, versions)
    config = replace(process, tasks=tuple(_tasks(setup, routing, namespace)))
    targets = {port.number: port.target for port in ports if port.target is not None}
    table = RoutingTable(routing, tuple(sorted(targets)))
    routes = routes_part(
        RoutesSetup(host, dirs, namespace.name, table, (process.control_cpu,), targets)
    )
    counts = replace(counts, settings=_SETTINGS, hands_over=True)
    return KernelRouter(Wsdp(setup.name, host, dirs, config), counts, namespace, routes)


def _tasks(setup: Setup, routing: Routing, namespace: TapNamespace) -> Iterator[WsdpTask]:
    """Yield a task from a queue of one port to the same queue of the routed port."""
    keys = {"kernel": ", ".join(PORTS), "kernel_netns": namespace.path}
    keys |= {f"room_ipv{version}": str(routing.prefixes(version)) for version in (4, 6)}
    for forward, queue in lanes(setup):
        task = task_between(setup, forward, queue, "router", keys)
        yield replace(
            task, tx=tuple(setup.attachments[side].transmit[queue] for side in setup.sides)
        )


def tap_ports(setup: Setup) -> Iterator[TapPort]:
    """Yield the ports as the kernel has them."""
    for number, side in enumerate(setup.sides):
        port = setup.attachments[side].port
        leaving = [forward for forward in setup.forwards if forward.to_port == side]
        prefixes = (p for forward in leaving for p in stream_prefixes(setup, forward))
        yield TapPort(
            number,
            setup.mac(side),
            _ETHERNET_MTU if port is None else port.mtu,
            leaving[0].dst_mac if leaving else None,
            tuple(dict.fromkeys(prefixes)),
        )
