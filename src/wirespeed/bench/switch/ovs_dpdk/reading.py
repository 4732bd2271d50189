# SPDX-License-Identifier: Apache-2.0
"""Read the switch's counters until they agree: frames entered, left and dropped, with causes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from wirespeed.bench.interface import HopCount
from wirespeed.bench.switch.ovs_dpdk import counters, flows
from wirespeed.bench.switch.ovs_dpdk.bonds import not_admitted, parse_pdus
from wirespeed.bench.switch.ovs_dpdk.control import Control
from wirespeed.bench.switch.ovs_dpdk.counters import Pdus
from wirespeed.bench.switch.ovs_dpdk.instance import Instance
from wirespeed.bench.switch.ovs_dpdk.settings import counted_rules
from wirespeed.bench.switch.veth.polled import VethCount
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.sources.pmd_stats import failed_upcalls

# Open vSwitch updates the packet counts of rules about once a second.
_SETTLE_S = 3.0


class CounterReader:
    """Counts of one vSwitch, which is the hop of this name.

    veths: reads counters of ports that are kernel interfaces. Reading ports costs milliseconds. The
    counts of drop rules lag behind the datapath, so they are read only when the ports' counts show
    that frames are missing. Frames that no rule has counted in _SETTLE_S are lost without a trace:
    further readings do not wait for them.
    """

    def __init__(
        self,
        control: Control,
        instance: Instance,
        veths: Callable[[], Mapping[str, VethCount]] = dict,
    ) -> None:
        self._control, self._veths = control, veths
        self._hop, self._ports, self._bonds = instance.hop, instance.ports, instance.bonds
        names = (bridge.name for bridge in instance.bridges)
        self.bridges = (*names, *(bond.bridge for bond in instance.bonds))
        self._unmatched: Mapping[tuple[str, DropCause], int] = {}
        self._located: Mapping[tuple[str, DropCause], int] = {}
        self._own_rules: frozenset[str] | None = None
        self._untraced = 0

    def read(self) -> HopCount:
        if self._own_rules is None:
            self._own_rules = frozenset(self._rules())
        seen = self._read()
        deadline = time.monotonic() + _SETTLE_S
        while missing(seen) not in (0, self._untraced):
            if time.monotonic() > deadline:
                self._untraced = missing(seen)
                break
            self._control.ask("revalidator/wait")
            dump = self._dump("dump-flows")
            self._unmatched = flows.dropped_by_port(dump, self._ports)
            seen = self._read()
            if self._bonds and missing(seen) > 0:
                self._unmatched = {**self._unmatched, **self._by_bonds(dump, missing(seen))}
                seen = self._read()
            if (lost := missing(seen) + sum(self._located.values())) > 0:
                self._located = self._by_switch(lost)
                seen = self._read()
        return seen

    def _by_switch(self, lost: int) -> Mapping[tuple[str, DropCause], int]:
        """Return which missing frames the switch itself reports as dropped.

        lost: frames missing since the counts began. What an earlier reading located stays, also
        after a rule that dropped it was deleted; only the growth of a count locates more. Rules
        that others wrote come first, then the datapath's counters, which include rules.
        """
        rules = flows.dropped_by_foreign(
            self._rules(), self._own_rules or (), self._hop, self._ports
        )
        coverage = self._control.ask("coverage/show")
        bounds = {**rules, **counters.dropped_by_datapath(self._hop, coverage)}
        found: dict[tuple[str, DropCause], int] = {}
        for counted in (self._located, bounds):
            for place, bound in counted.items():
                more = min(max(0, bound - found.get(place, 0)), lost)
                found[place] = found.get(place, 0) + more
                lost -= more
        return found

    def _rules(self) -> Mapping[str, str]:
        shown = (self._control.ask("bridge/dump-flows", name) for name in self.bridges)
        return counted_rules("".join(shown))

    def _by_bonds(self, dump: str, lost: int) -> Mapping[tuple[str, DropCause], int]:
        """Return which missing frames came in by links that bonds hold down.

        When a link goes down, Open vSwitch credits earlier frames to the present rules. Its own
        count is an upper bound; that of the ports is exact.
        """
        counts = counters.parse_ports(self._dump("dump-ports"))
        found = {}
        bounds = not_admitted(self._bonds, dump, counts)
        for port, bound in sorted(bounds, key=lambda each: -each[1]):
            found[port, DropCause.LINK_DOWN] = min(bound, lost)
            lost -= min(bound, lost)
        return found

    def _read(self) -> HopCount:
        dump, pdus = self._ports_and_pdus()
        pmd_stats = self._control.ask("dpif-netdev/pmd-stats-show")
        answers = counters.Answers(
            counters.parse_ports(dump),
            self._unmatched,
            failed_upcalls(pmd_stats),
            counters.events(self._hop, pmd_stats, self._control.ask("coverage/show")),
            pdus,
            self._veths(),
            self._located,
        )
        return counters.hop(self._hop, self._ports, answers)

    def _ports_and_pdus(self) -> tuple[str, Mapping[str, Pdus]]:
        """Return port counts and LACP frames of one moment: between two equal LACP answers."""
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
        """Return the dump of all bridges; their ports have different numbers."""
        return "".join(self._control.ofctl(command, bridge=name) for name in self.bridges)


def missing(seen: HopCount) -> int:
    """Return how many frames entered and neither left nor are known to be dropped."""
    return sum(seen.entered.values()) - sum(seen.left.values()) - sum(seen.drops.values())
