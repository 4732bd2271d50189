# SPDX-License-Identifier: Apache-2.0
"""Assign ports to bridges, join the bridges, and derive the rules of each. Pure.

Two bridges are OpenStack's layout: physical ports, with the provider's VLAN, on one; network
functions on the other. Open vSwitch makes one datapath flow of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wirespeed.bench.switch.ovs_dpdk.flows import forward, table, wrongly_tagged
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.bench.topology.wiring import Flow
from wirespeed.model.study.ovs import Ovs, VlanTranslation

_NO_TAG = "vlan_tci=0x0000/0x1fff,"


@dataclass(frozen=True, slots=True)
class Bridge:
    """A bridge and its ports."""

    name: str
    ports: tuple[SwitchPort, ...]
    patch: int | None = None
    """Number of its port to the other bridge; None for a single bridge."""

    @property
    def patch_name(self) -> str:
        return f"{self.name}p"

    def number(self, port: str) -> int:
        """Return the number of a port; the patch port's number where the other bridge has it."""
        found = next((p.number for p in self.ports if p.name == port), self.patch)
        if found is None:
            raise KeyError(port)
        return found


def bridges(name: str, ports: Sequence[SwitchPort], count: int) -> tuple[Bridge, ...]:
    """Return the bridges of these ports; the first is called `name`."""
    if count == 1:
        return (Bridge(name, tuple(ports)),)
    outer = [port for port in ports if port.to_generator]
    if len(outer) == len(ports):
        outer = outer[:1]
    inner = tuple(port for port in ports if port not in outer)
    patch = len(ports) + 1
    return Bridge(name, tuple(outer), patch), Bridge(f"{name}i", inner, patch)


def add_bridges_command(made: Sequence[Bridge]) -> list[str]:
    """Return the ovs-vsctl arguments that make them, with their patch ports."""
    words: list[str] = []
    for bridge in made:
        words += ["--", "add-br", bridge.name]
        words += ["--", "set", "Bridge", bridge.name, "datapath_type=netdev", "fail_mode=secure"]
    for bridge, other in zip(made, reversed(made), strict=True):
        if bridge.patch is not None:
            words += ["--", "add-port", bridge.name, bridge.patch_name]
            words += ["--", "set", "Interface", bridge.patch_name, "type=patch"]
            words += [f"ofport_request={bridge.patch}", f"options:peer={other.patch_name}"]
    return words[1:]


@dataclass(frozen=True, slots=True)
class Tags:
    """VLAN tags on one bridge, where tags are translated between two; else all are empty.

    A frame with another tag is dropped, as on OpenStack's bridges: otherwise it would cross from
    one network to another.
    """

    own: str = ""
    """Match on frames from the bridge's own ports."""
    change: str = ""
    """Actions on frames that leave for the other bridge."""
    comes: str = ""
    """Match on frames from the other bridge."""


def tags(index: int, ovs: Ovs, vlan_id: int | None) -> Tags:
    """Return the tags of a bridge.

    vlan_id: VLAN ID of frames on the first bridge; None for untagged frames.
    """
    if vlan_id is None or ovs.vlan is VlanTranslation.NONE:
        return Tags()
    outer = f"dl_vlan={vlan_id},"
    if ovs.vlan is VlanTranslation.STRIP:
        push = f"push_vlan:0x8100,{_set(vlan_id)}"
        return Tags(outer, "pop_vlan,", outer) if index == 0 else Tags(_NO_TAG, push, _NO_TAG)
    if index == 0:
        return Tags(outer, _set(ovs.local_vlan_id), outer)
    inner = f"dl_vlan={ovs.local_vlan_id},"
    return Tags(inner, _set(vlan_id), inner)


def _set(vlan_id: int) -> str:
    return f"set_field:{vlan_id | 0x1000}->vlan_vid,"


def rules(
    flows: Sequence[Flow], made: Sequence[Bridge], ovs: Ovs, vlan_id: int | None
) -> tuple[str, ...]:
    """Return each bridge's rules, as `ovs-ofctl add-flows` reads them. vlan_id: see `tags`."""
    return tuple(
        table(
            dict.fromkeys(_forwards(flows, bridge, tags(index, ovs, vlan_id))),
            [p.number for p in bridge.ports] + ([bridge.patch] if bridge.patch else []),
        )
        for index, bridge in enumerate(made)
    )


def _forwards(flows: Sequence[Flow], bridge: Bridge, tags: Tags) -> Iterator[str]:
    """Yield what the bridge does of each flow: all, the first half, the second half, or nothing."""
    own = {port.name for port in bridge.ports}
    for flow in flows:
        if flow.in_port in own or flow.out_port in own:
            in_port = bridge.number(flow.in_port)
            match = tags.own if flow.in_port in own else tags.comes
            change = "" if flow.out_port in own else tags.change
            yield forward(in_port, flow.dst_mac, bridge.number(flow.out_port), match, change)
            if match:
                yield wrongly_tagged(in_port, flow.dst_mac)
