# SPDX-License-Identifier: Apache-2.0
"""What can no switch do that the kernel is, and what does each need of a plan?"""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.fault import Fault
from wirespeed.model.needs import SwitchNeeds
from wirespeed.model.policy import InterfaceKind
from wirespeed.model.spec import Frames, Ovs, Vswitch
from wirespeed.model.units import mtu_for

# Our programs use its ports by DPDK's AF_PACKET driver.
_AF_PACKET_MTU = 1500


def kernel_faults(name: str, vswitch: Vswitch, frames: Frames) -> Iterator[Fault]:
    if frames.hosts.sut is not None:
        allowed = "has no ports that lead to another host, as [hosts] asks for; ovs-dpdk has"
        yield Fault("sut.vswitch.kind", name, allowed)
    if (needed := mtu_for(max(frames.wire_bytes))) > _AF_PACKET_MTU:
        allowed = f"needs an MTU of {needed}; DPDK's AF_PACKET driver has {_AF_PACKET_MTU} at most"
        yield Fault("traffic.frame", frames.traffic.frame.text, allowed)
    if vswitch.rx_queues != 1:
        yield Fault("sut.vswitch.rx_queues", vswitch.rx_queues, "a veth port here has one")
    if vswitch.ovs != Ovs():
        yield Fault("sut.vswitch.ovs", "(set)", 'goes with sut.vswitch.kind = "ovs-dpdk"')
    if vswitch.socket_memory_mib is not None:
        memory = vswitch.socket_memory_mib
        yield Fault("sut.vswitch.socket_memory_mib", memory, "the kernel needs no huge pages")


def kernel_needs(name: str, vswitch: Vswitch) -> SwitchNeeds:
    return SwitchNeeds(
        name,
        packet_memory=False,
        forwards_on=vswitch.pmd_cpus,
        polls=False,
        guest_ports=InterfaceKind.VIRTIO,
    )
