# SPDX-License-Identifier: Apache-2.0
"""Run Linux bridges as a component of a bench: the kernel's L2 forwarding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.bench.host.network import QUIET
from wirespeed.bench.interface import HopCount
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.switch.linux.counters import hop
from wirespeed.bench.switch.linux.ports import KernelForwarding
from wirespeed.bench.switch.linux.segments import Segment
from wirespeed.bench.switch.veth.cables import program_ends
from wirespeed.bench.topology.wiring import SWITCH

# Frames of a bench must not pass the host's firewall.
_BRIDGE = ("stp_state", "0", "mcast_snooping", "0", "nf_call_iptables", "0",
           "nf_call_ip6tables", "0", "nf_call_arptables", "0")  # fmt: skip


class LinuxBridge(KernelForwarding):
    """Linux bridges of a bench.

    makes_ports: whether this component makes its ports; otherwise the namespace already has them.
    """

    name = "Linux bridge"
    bridged = True

    def __init__(
        self,
        setup: SwitchSetup,
        segments: Sequence[Segment],
        namespace: str,
        *,
        makes_ports: bool,
    ) -> None:
        super().__init__(setup, namespace)
        self._segments, self._makes_ports = tuple(segments), makes_ports
        self._ends = program_ends(setup.wiring) if makes_ports else {}
        ports = setup.wiring.ports_of(SWITCH) if makes_ports else ()
        self._taps = tuple(port for port in ports if port not in self._ends)

    def up(self) -> None:
        if self._makes_ports:
            self.make_ports(self._ends, self._taps, {}, QUIET)
        for number, segment in enumerate(self._segments):
            self._make_bridge(f"br{number}", segment)
        self.steer(port for segment in self._segments for port in segment.ports)

    def _make_bridge(self, name: str, segment: Segment) -> None:
        self.ip("link", "add", name, "type", "bridge", *_BRIDGE)
        flood = "off" if segment.addresses is not None else "on"
        for port in segment.ports:
            self.ip("link", "set", port, "master", name)
            self.ip("link", "set", port, "type", "bridge_slave", "learning", "off",
                    "flood", flood, "mcast_flood", flood, "bcast_flood", flood)  # fmt: skip
        for address, port in (segment.addresses or {}).items():
            self.run("bridge", "-n", self._namespace, "fdb", "add", address, "dev", port,
                     "master", "static")  # fmt: skip
        self.ip("link", "set", name, "mtu", str(self._setup.plan.mtu.value), "up")

    def read(self) -> tuple[HopCount, ...]:
        return (hop(self._ends, self._taps, self.links()),)

    def describe(self) -> Mapping[str, object]:
        return {**self.common(), "bridges": [list(segment.ports) for segment in self._segments]}
