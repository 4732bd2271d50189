# SPDX-License-Identifier: Apache-2.0
"""Which settings does a plan decide for a host, in the order in which they are made?"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.apply.step import Step
from wirespeed.apply.steps.governors import governor_steps
from wirespeed.apply.steps.huge_pages import page_steps
from wirespeed.apply.steps.interrupts import interrupt_steps
from wirespeed.apply.steps.kernel_line import kernel_steps
from wirespeed.apply.steps.ovs import ovs_steps
from wirespeed.apply.steps.vf_steps import nic_steps
from wirespeed.model.facts import HostFacts
from wirespeed.model.plan import HostPlan, Plan
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class PlannedSteps:
    """local: cannot cut the connection. network: may; they are guarded by a checkpoint."""

    local: tuple[Step, ...]
    network: tuple[Step, ...]

    @property
    def all(self) -> tuple[Step, ...]:
        return self.local + self.network


def planned_steps(plan: Plan, host: HostPlan, facts: HostFacts, runner: Runner) -> PlannedSteps:
    """The steps for this host. Reads it, changes nothing. Raises NoBootLoader."""
    steps = [
        *kernel_steps(plan, host, runner),
        *page_steps(host, runner),
        *governor_steps(host),
        *interrupt_steps(host),
        *nic_steps(plan, host, facts, runner),
        *ovs_steps(plan, host),
    ]
    return PlannedSteps(
        tuple(step for step in steps if not step.setting.risks_connection),
        tuple(step for step in steps if step.setting.risks_connection),
    )
