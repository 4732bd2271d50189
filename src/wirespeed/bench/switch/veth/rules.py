# SPDX-License-Identifier: Apache-2.0
"""What cannot be asked of ports that are interfaces of the kernel?"""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.fault import Fault
from wirespeed.model.spec import Frames, Vswitch
from wirespeed.model.units import mtu_for

# What DPDK's AF_PACKET and AF_XDP drivers, and Open vSwitch's own sockets, have room for.
_SOCKET_MTU = 1500


def veth_faults(key: str, value: str, vswitch: Vswitch, frames: Frames) -> Iterator[Fault]:
    """key, value: by which the study asks for such ports."""
    if frames.hosts.sut is not None:
        allowed = "has no ports that lead to another host, as [hosts] asks for"
        yield Fault(key, value, allowed)
    if (needed := mtu_for(max(frames.wire_bytes))) > _SOCKET_MTU:
        allowed = (
            f"needs an MTU of {needed}; programs use the kernel's ports by sockets whose buffers "
            f"have room for {_SOCKET_MTU}"
        )
        yield Fault("traffic.frame", frames.traffic.frame.text, allowed)
    if vswitch.rx_queues != 1:
        yield Fault("sut.vswitch.rx_queues", vswitch.rx_queues, "a veth port here has one")
