# SPDX-License-Identifier: Apache-2.0
"""Find settings that the workload's release of Nova refuses."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.cpuset import format_list
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.policy import CpuPolicy
from wirespeed.model.plan.workload import Workload
from wirespeed.plan.nova.guests import guest_cells

# First release that places a node of floating vCPUs of a mixed guest (nova/virt/hardware.py).
_MIXED_NODES = 27


def refused_by_nova(workload: Workload) -> Iterator[Fault]:
    """Yield the errors of a workload that has no other errors."""
    if workload.placement.nova_release >= _MIXED_NODES:
        return
    for vnf in workload.vnfs:
        floating = [n for n, cell in enumerate(guest_cells(vnf)) if not cell.pinned]
        if vnf.cpu_policy is CpuPolicy.MIXED and floating:
            yield Fault(
                f"vnf[{vnf.name}].dedicated_cpus", format_list(vnf.dedicated_cpus),
                f"leaves the guest's node {floating[0]} without a pinned vCPU; Nova "
                f"{workload.placement.nova_release} finds no host for that, {_MIXED_NODES} does",
            )  # fmt: skip
