# SPDX-License-Identifier: Apache-2.0
"""List the settings that a plan decides for a host, in the order in which they are changed."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.apply.step import Step
from wirespeed.apply.steps.governors import governor_steps
from wirespeed.apply.steps.huge_pages import page_steps
from wirespeed.apply.steps.interrupts import interrupt_steps
from wirespeed.apply.steps.kernel_line import kernel_steps
from wirespeed.apply.steps.vf_steps import nic_steps
from wirespeed.apply.switches import switch_steps
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class PlannedSteps:
    """Steps of one host."""

    local: tuple[Step, ...]
    """Steps that cannot cut the connection."""
    network: tuple[Step, ...]
    """Steps that may cut the connection; a checkpoint guards them."""

    @property
    def all(self) -> tuple[Step, ...]:
        return self.local + self.network


def planned_steps(plan: Plan, host: HostPlan, facts: HostFacts, runner: Runner) -> PlannedSteps:
    """Return the steps for this host. Reads the host, changes nothing. Raises NoBootLoader."""
    steps = [
        *kernel_steps(host, runner),
        *page_steps(host, runner),
        *governor_steps(host),
        *interrupt_steps(host),
        *nic_steps(plan, host, facts, runner),
        *switch_steps(plan, host),
    ]
    return PlannedSteps(
        tuple(step for step in steps if not step.setting.risks_connection),
        tuple(step for step in steps if step.setting.risks_connection),
    )
