# SPDX-License-Identifier: Apache-2.0
"""Translate the hosts of a plan into cases of the model.

A plan has no traffic. Each host is therefore predicted for all its guests together, at the sizes of
FRAME_BYTES: north-south, and east-west as one chain.
"""

from __future__ import annotations

from collections import Counter

from wirespeed.model.errors import BadInput
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.plan.policy import InterfaceKind
from wirespeed.model.plan.prediction import Arrangement, Attachment, Case
from wirespeed.predict.study import SWITCHES

FRAME_BYTES = (64, 512, 1518)
KINDS = {InterfaceKind.VHOST: Attachment.VHOST, InterfaceKind.SRIOV: Attachment.SRIOV}


def cases_of_plan(plan: Plan) -> list[tuple[str, Case]]:
    """Return label and case of each host, port type, pattern and frame size.

    Raises BadInput for a type of vSwitch that the model does not know.
    """
    for host in plan.hosts:
        if host.vswitch is not None and (kind := host.vswitch.deployed_kind) not in SWITCHES:
            raise BadInput(
                f"host {host.host}: vswitch.kind = {kind!r} is not predicted",
                f"The model knows {', '.join(SWITCHES)}.",
            )
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
