# SPDX-License-Identifier: Apache-2.0
"""Reads the switch's counters until they agree: what entered, what left, what was dropped, why."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from wirespeed.bench.interface import HopCount
from wirespeed.bench.switch.ovs_dpdk import counters, flows
from wirespeed.bench.switch.ovs_dpdk.bonds import Bond, not_admitted, parse_pdus
from wirespeed.bench.switch.ovs_dpdk.control import Control
from wirespeed.bench.switch.ovs_dpdk.counters import Pdus
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.model.trial import DropCause

# The packet counts of rules are brought up to date about once a second.
_SETTLE_S = 3.0


class CounterReader:
    """Counts of one vSwitch, which is the hop of this name.

    Reading ports costs milliseconds. The counts of the drop rules lag behind the datapath, so they
    are asked for only when the ports' counts say that frames are missing.
    """

    def __init__(
        self, hop: str, control: Control, ports: Sequence[SwitchPort], bridges: Sequence[str],
        bonds: Sequence[Bond],
    ) -> None:  # fmt: skip
        self._hop, self._control = hop, control
        self._bridges = (*bridges, *(bond.bridge for bond in bonds))
        self._ports, self._bonds = tuple(ports), tuple(bonds)
        self._unmatched: Mapping[tuple[str, DropCause], int] = {}

    def read(self) -> HopCount:
        seen = self._read()
        deadline = time.monotonic() + _SETTLE_S
        while missing(seen) != 0 and time.monotonic() < deadline:
            self._control.ask("revalidator/wait")
            self._unmatched = self._dropped()
            seen = self._read()
        return seen

    def _dropped(self) -> Mapping[tuple[str, DropCause], int]:
        """What rules dropped, and bonds."""
        dump = self._dump("dump-flows")
        found = dict(flows.dropped_by_port(dump, self._ports))
        if self._bonds:
            counts = counters.parse_ports(self._dump("dump-ports"))
            for port, frames in not_admitted(self._bonds, dump, counts):
                found[port, DropCause.LINK_DOWN] = frames
        return found

    def _read(self) -> HopCount:
        dump, pdus = self._ports_and_pdus()
        pmd_stats = self._control.ask("dpif-netdev/pmd-stats-show")
        answers = counters.Answers(
            counters.parse_ports(dump),
            self._unmatched,
            counters.failed_upcalls(pmd_stats),
            counters.events(self._hop, pmd_stats, self._control.ask("coverage/show")),
            pdus,
        )
        return counters.hop(self._hop, self._ports, answers)

    def _ports_and_pdus(self) -> tuple[str, Mapping[str, Pdus]]:
        """Of one moment: between two like answers on LACP's frames."""
        while True:
            before = self._pdus()
            dump = self._dump("dump-ports")
            if self._pdus() == before:
                return dump, before

    def _pdus(self) -> Mapping[str, Pdus]:
        if not any(bond.uses_lacp for bond in self._bonds):
            return {}
        return parse_pdus(self._control.ask("lacp/show-stats"))

    def _dump(self, command: str) -> str:
        """Of all bridges: their ports have different numbers."""
        return "".join(self._control.ofctl(command, bridge=name) for name in self._bridges)


def missing(seen: HopCount) -> int:
    """How many frames entered and neither left nor are known to be dropped."""
    return sum(seen.entered.values()) - sum(seen.left.values()) - sum(seen.drops.values())
