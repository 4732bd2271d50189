# SPDX-License-Identifier: Apache-2.0
"""List what ports that are kernel interfaces do not support."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import Frames, Vswitch
from wirespeed.model.units import mtu_for

# Largest MTU of DPDK's AF_PACKET and AF_XDP drivers and of Open vSwitch's own sockets.
_SOCKET_MTU = 1500


def veth_faults(key: str, value: str, vswitch: Vswitch, frames: Frames) -> Iterator[Fault]:
    """Yield the errors of a point with such ports.

    key, value: how the study asks for such ports.
    """
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
