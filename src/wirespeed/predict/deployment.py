# SPDX-License-Identifier: Apache-2.0
"""Which cases of the model are the hosts of a plan?

A plan knows no traffic. So each host is asked what its guests carry together, north-south and, as
one chain, east-west, at the sizes of FRAME_BYTES.
"""

from __future__ import annotations

from collections import Counter

from wirespeed.model.plan import HostPlan, Plan
from wirespeed.model.policy import InterfaceKind
from wirespeed.model.prediction import Arrangement, Attachment, Case

FRAME_BYTES = (64, 512, 1518)
KINDS = {InterfaceKind.VHOST: Attachment.VHOST, InterfaceKind.SRIOV: Attachment.SRIOV}


def cases_of_plan(plan: Plan) -> list[tuple[str, Case]]:
    """Label and case of each host, kind of port, pattern and frame size."""
    return [
        (f"{host.host}, {kind} {pattern}, {count} ports, {size} B",
         _case(host, attachment, pattern, count, size))
        for host in plan.hosts
        for kind, attachment in KINDS.items()
        if (count := _ports(host)[kind])
        for pattern in Arrangement
        for size in FRAME_BYTES
    ]  # fmt: skip


def _ports(host: HostPlan) -> Counter[InterfaceKind]:
    return Counter(port.kind.value for guest in host.guests for port in guest.ports)


def _case(
    host: HostPlan, attachment: Attachment, pattern: Arrangement, functions: int, size: int
) -> Case:
    switch = host.vswitch if attachment is Attachment.VHOST else None
    pmds = None if switch is None else max(1, len(switch.pmd_cpus.value))
    rings = 1024 if switch is None else switch.descriptors.value
    return Case(attachment, pattern, functions, size, pmds=pmds, ring_frames=rings)
