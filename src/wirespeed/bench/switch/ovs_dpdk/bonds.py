# SPDX-License-Identifier: Apache-2.0
"""How is a port of Open vSwitch a bond of several links?

A frame leaves by a bond only where the action NORMAL sends it there; "output" names one link. So a
bond has a bridge of its own with one port besides, by which all frames come and go: NORMAL knows no
other way, and learns nothing. For the datapath it is no hop: rules of all bridges become one flow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.switch.ovs_dpdk.counters import Pdus, PortCount
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort, add_ports_command, set_interface
from wirespeed.model.ovs import BondMode


@dataclass(frozen=True, slots=True)
class Bond:
    """port: the switch's port that is a bond. inner: the only other port of its bridge."""

    bridge: str
    port: SwitchPort
    inner: SwitchPort
    mode: BondMode

    @property
    def name(self) -> str:
        """Of the bond itself, among Open vSwitch's ports."""
        return f"{self.port.name}-links"

    @property
    def uses_lacp(self) -> bool:
        return self.mode is BondMode.BALANCE_TCP

    @property
    def rules(self) -> str:
        """One of each port, so that Open vSwitch counts what came in by it."""
        numbers = [port.number for port in (self.inner, *self.port.members)]
        return "".join(f"priority=1,in_port={number},actions=NORMAL\n" for number in numbers)

    def add_command(self, mtu: int, pinned: Mapping[str, str]) -> list[str]:
        """The ovs-vsctl words that make bridge and bond."""
        names = [member.name for member in self.port.members]
        words = ["add-br", self.bridge, "--", "set", "Bridge", self.bridge]
        words += ["datapath_type=netdev", "fail_mode=secure", "flood-vlans=0"]
        words += ["--", *add_ports_command(self.bridge, [self.inner], mtu, pinned)]
        words += ["--", "add-bond", self.bridge, self.name, *names, f"bond_mode={self.mode}"]
        if self.uses_lacp:
            words += ["lacp=active", "other_config:lacp-time=fast"]
        if self.mode is BondMode.ACTIVE_BACKUP:
            # Both ends use the same link: what comes by the other one is dropped.
            words.append(f"other_config:bond-primary={names[0]}")
        for member in self.port.members:
            words += ["--", *set_interface(member, mtu, pinned)]
        return words


_MEMBER = re.compile(r"^member (\S+): (\w+)$", re.MULTILINE)
_LACP_MEMBER = re.compile(r"^member: (\S+): (.*)$", re.MULTILINE)
_LACP_STATE = re.compile(r"(?:actor|partner) state: (.*)$", re.MULTILINE)


def not_ready(bond: Bond, shown: str, lacp: str) -> str | None:
    """Which links do not carry frames yet; from bond/show, and lacp/show where LACP is used."""
    enabled = {name for name, state in _MEMBER.findall(shown) if state == "enabled"}
    waiting = [member.name for member in bond.port.members if member.name not in enabled]
    if waiting:
        return f"links {waiting} of the bond {bond.port.name}"
    if bond.uses_lacp:
        attached = [name for name, state in _LACP_MEMBER.findall(lacp) if "attached" in state]
        states = _LACP_STATE.findall(lacp)
        agreed = len(attached) == len(bond.port.members) and all(
            "distributing" in state for state in states
        )
        if not agreed:
            return f"LACP on the bond {bond.port.name}"
    return None


_PDUS = re.compile(r"^member: (\S+):\s+TX PDUs: (\d+)\s+RX PDUs: (\d+)", re.MULTILINE)


def parse_pdus(shown: str) -> Mapping[str, Pdus]:
    """By link, from lacp/show-stats."""
    return {name: Pdus(int(sent), int(received)) for name, sent, received in _PDUS.findall(shown)}


_RULE = re.compile(r"n_packets=(\d+).*priority=1,in_port=(\d+) actions=NORMAL")


def not_admitted(
    bonds: Sequence[Bond], dump: str, counts: Mapping[int, PortCount]
) -> Iterator[tuple[str, int]]:
    """By port, how many frames came in at most by a link which the bond held for down: NORMAL drops
    them.

    dump: the rules of all bridges, with counts that have settled. counts: of all ports.
    """
    came = {int(number): int(packets) for packets, number in _RULE.findall(dump)}
    for bond in bonds:
        count = counts.get(bond.inner.number)
        entered = sum(came.get(member.number, 0) for member in bond.port.members)
        if count is not None:
            yield bond.port.name, max(0, entered - count.tx - count.tx_dropped)
