# SPDX-License-Identifier: Apache-2.0
"""Make a port of Open vSwitch a bond of several links.

Only the action NORMAL sends a frame to a bond; "output" names one link. So a bond has a bridge of
its own with one other port, by which all frames come and go. NORMAL then has one choice and learns
nothing. The datapath merges the rules of all bridges into one flow, so this bridge is no hop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.switch.ovs_dpdk.counters import Pdus, PortCount
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort, add_ports_command, set_interface
from wirespeed.model.study.ovs import BondMode


@dataclass(frozen=True, slots=True)
class Bond:
    """A bond of Open vSwitch."""

    bridge: str
    port: SwitchPort
    """The switch's port that is a bond."""
    inner: SwitchPort
    """The only other port of the bond's bridge."""
    mode: BondMode

    @property
    def name(self) -> str:
        """Name of the bond among Open vSwitch's ports."""
        return f"{self.port.name}-links"

    @property
    def uses_lacp(self) -> bool:
        return self.mode is BondMode.BALANCE_TCP

    @property
    def rules(self) -> str:
        """Rules of the bridge: one for each port, so that Open vSwitch counts its ingress."""
        numbers = [port.number for port in (self.inner, *self.port.members)]
        return "".join(f"priority=1,in_port={number},actions=NORMAL\n" for number in numbers)

    def add_command(self, mtu: int, pinned: Mapping[str, str]) -> list[str]:
        """Return the ovs-vsctl arguments that make bridge and bond."""
        names = [member.name for member in self.port.members]
        words = ["add-br", self.bridge, "--", "set", "Bridge", self.bridge]
        words += ["datapath_type=netdev", "fail_mode=secure", "flood-vlans=0"]
        words += ["--", *add_ports_command(self.bridge, [self.inner], mtu, pinned)]
        words += ["--", "add-bond", self.bridge, self.name, *names, f"bond_mode={self.mode}"]
        if self.uses_lacp:
            words += ["lacp=active", "other_config:lacp-time=fast"]
        if self.mode is BondMode.ACTIVE_BACKUP:
            # Both ends must use the same link: frames on the other one are dropped.
            words.append(f"other_config:bond-primary={names[0]}")
        for member in self.port.members:
            words += ["--", *set_interface(member, mtu, pinned)]
        return words


_MEMBER = re.compile(r"^member (\S+): (\w+)$", re.MULTILINE)
_LACP_MEMBER = re.compile(r"^member: (\S+): (.*)$", re.MULTILINE)
_LACP_STATE = re.compile(r"(?:actor|partner) state: (.*)$", re.MULTILINE)


def not_ready(bond: Bond, shown: str, lacp: str) -> str | None:
    """Return which links do not carry frames yet.

    shown: answer of bond/show. lacp: answer of lacp/show, where LACP is used.
    """
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
    """Return LACP frames by link, from lacp/show-stats."""
    return {name: Pdus(int(sent), int(received)) for name, sent, received in _PDUS.findall(shown)}


_RULE = re.compile(r"n_packets=(\d+).*priority=1,in_port=(\d+) actions=NORMAL")


def not_admitted(
    bonds: Sequence[Bond], dump: str, counts: Mapping[int, PortCount]
) -> Iterator[tuple[str, int]]:
    """Yield each port with the most frames that NORMAL dropped on links held down.

    dump: rules of all bridges, with settled counts. counts: counters of all ports.
    """
    came = {int(number): int(packets) for packets, number in _RULE.findall(dump)}
    for bond in bonds:
        count = counts.get(bond.inner.number)
        entered = sum(came.get(member.number, 0) for member in bond.port.members)
        if count is not None:
            yield bond.port.name, max(0, entered - count.tx - count.tx_dropped)
