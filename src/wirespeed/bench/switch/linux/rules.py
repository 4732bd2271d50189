# SPDX-License-Identifier: Apache-2.0
"""List what no kernel switch can do, and what each of them needs from a plan."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.switch.veth.rules import veth_faults
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import Forwarding, SwitchNeeds
from wirespeed.model.plan.policy import InterfaceKind
from wirespeed.model.study.spec import Frames, Vswitch


def kernel_faults(name: str, vswitch: Vswitch, frames: Frames) -> Iterator[Fault]:
    yield from veth_faults("sut.vswitch.kind", name, vswitch, frames)
    if vswitch.socket_memory_mib is not None:
        memory = vswitch.socket_memory_mib
        yield Fault("sut.vswitch.socket_memory_mib", memory, "the kernel needs no huge pages")


def kernel_needs(name: str, frames: Frames) -> SwitchNeeds:
    return SwitchNeeds(
        name,
        packet_memory=False,
        forwards_on=frames.sut.vswitch.pmd_cpus,
        forwarding=Forwarding.KERNEL,
        guest_ports=InterfaceKind.VIRTIO,
    )
