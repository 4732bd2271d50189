# SPDX-License-Identifier: Apache-2.0
"""Reads the switch's counters until they agree: what entered, what left, what was dropped, why."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from wirespeed.bench.interface import HopCount
from wirespeed.bench.switch.ovs_dpdk import counters, flows
from wirespeed.bench.switch.ovs_dpdk.control import Control
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.model.trial import DropCause

# The packet counts of rules are brought up to date about once a second.
_SETTLE_S = 3.0


class CounterReader:
    """Counts of one vSwitch.

    Reading ports costs milliseconds. The counts of the drop rules lag behind the datapath, so they
    are asked for only when the ports' counts say that frames are missing.
    """

    def __init__(
        self, control: Control, ports: Sequence[SwitchPort], bridges: Sequence[str]
    ) -> None:
        self._control, self._bridges = control, tuple(bridges)
        self._ports = tuple(ports)
        self._unmatched: Mapping[tuple[str, DropCause], int] = {}

    def read(self) -> HopCount:
        seen = self._read()
        deadline = time.monotonic() + _SETTLE_S
        while missing(seen) != 0 and time.monotonic() < deadline:
            self._control.ask("revalidator/wait")
            dump = self._dump("dump-flows")
            self._unmatched = flows.dropped_by_port(dump, self._ports)
            seen = self._read()
        return seen

    def _read(self) -> HopCount:
        dump = self._dump("dump-ports")
        pmd_stats = self._control.ask("dpif-netdev/pmd-stats-show")
        return counters.hop(
            self._ports,
            counters.parse_ports(dump),
            self._unmatched,
            counters.failed_upcalls(pmd_stats),
            counters.events(pmd_stats, self._control.ask("coverage/show")),
        )

    def _dump(self, command: str) -> str:
        """Of all bridges: their ports have different numbers."""
        return "".join(self._control.ofctl(command, bridge=name) for name in self._bridges)


def missing(seen: HopCount) -> int:
    """How many frames entered and neither left nor are known to be dropped."""
    return sum(seen.entered.values()) - sum(seen.left.values()) - sum(seen.drops.values())
