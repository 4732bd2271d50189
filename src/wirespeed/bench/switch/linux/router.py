# SPDX-License-Identifier: Apache-2.0
"""Run the kernel's IP forwarding between two ports as a component of a bench.

Each port has the MAC address that frames are sent to there. Each stream's destination has a route
by the port where it ends, and a static neighbour there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from wirespeed.bench.host.network import inside
from wirespeed.bench.interface import HopCount
from wirespeed.bench.routing.kernel import forwarding_sysctls
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.switch.linux.counters import hop, parse_ip_drops
from wirespeed.bench.switch.linux.ports import KernelForwarding
from wirespeed.bench.switch.veth.cables import program_ends
from wirespeed.bench.topology.wiring import PORTS, SWITCH, generator_mac

# The programs' ends of the cables are in the same namespace: frames that arrive there must not be
# routed.
_END_SYSCTLS = ("net.ipv4.conf.{}.forwarding=0", "net.ipv6.conf.{}.disable_ipv6=1")
_NEIGHBOURS = {4: "192.0.2.1", 6: "fe80::1"}
_COUNTERS = ("/proc/net/snmp", "/proc/net/netstat", "/proc/net/snmp6")


class LinuxRouter(KernelForwarding):
    name = "Linux router"

    def __init__(self, setup: SwitchSetup, namespace: str) -> None:
        super().__init__(setup, namespace)
        self._ends, self._routes = program_ends(setup.wiring), setup.wiring.routes

    def up(self) -> None:
        macs = {stream.from_port: stream.dst_mac for stream in self._setup.wiring.streams}
        version = 6 if any(":" in route.prefix for route in self._routes) else 4
        versions = {version} | set(self._setup.routing.versions if self._setup.routing else ())
        self.make_ports(self._ends, (), macs, forwarding_sysctls(versions))
        for end in self._ends.values():
            words = [sysctl.format(end) for sysctl in _END_SYSCTLS]
            self.run(*inside(self._namespace), "sysctl", "-q", "-w", *words)
        for route in self._routes:
            neighbour, port = _NEIGHBOURS[version], route.out_port
            self.ip("neighbour", "replace", neighbour, "lladdr", generator_mac(port), "dev", port,
                    "nud", "permanent")  # fmt: skip
            self.ip(f"-{version}", "route", "add", route.prefix, "via", neighbour, "dev", port,
                    "onlink")  # fmt: skip
        self.steer(PORTS)

    def read(self) -> tuple[HopCount, ...]:
        """Return the counts of its ports, and what IP dropped between them."""
        seen = hop(self._ends, (), self.links())
        text = self.run(*inside(self._namespace), "cat", *_COUNTERS)
        dropped = {(SWITCH, cause): frames for cause, frames in parse_ip_drops(text).items()}
        return (replace(seen, drops={**seen.drops, **dropped}),)

    def describe(self) -> Mapping[str, object]:
        routes = [f"{route.prefix} by {route.out_port}" for route in self._routes]
        return {**self.common(), "routes": routes}
