# SPDX-License-Identifier: Apache-2.0
"""Register how hosts with each type of vSwitch are set up. See also `plan/host/switches.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from wirespeed.apply.compare_vswitch import compare_vswitch
from wirespeed.apply.finding import Found
from wirespeed.apply.setting import Setting
from wirespeed.apply.step import Step
from wirespeed.apply.steps.ovs import OvsKeys, OvsPorts, ovs_steps
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.kinds import Kinds
from wirespeed.model.plan.plan import HostPlan, Plan


class AppliedSwitch(Protocol):
    """Set-up of hosts with one type of vSwitch. name: as written in [vswitch] kind."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def settings(self) -> tuple[type[Setting], ...]:
        """Return the types of its settings, which the journal on a host names."""
        ...

    def steps(self, plan: Plan, host: HostPlan) -> Sequence[Step]:
        """Return the steps that set it up, in order."""
        ...

    def compare(self, facts: HostFacts, what: str, value: Any) -> Found:
        """Compare one decision with the host. what: a field of VswitchPlan."""
        ...


class AppliedOvsDpdk:
    """An AppliedSwitch: Open vSwitch with DPDK."""

    name = "ovs-dpdk"
    summary = "Open vSwitch with DPDK"
    settings = (OvsKeys, OvsPorts)

    def steps(self, plan: Plan, host: HostPlan) -> Sequence[Step]:
        return ovs_steps(plan, host)

    def compare(self, facts: HostFacts, what: str, value: Any) -> Found:
        return compare_vswitch(facts, what, value)


APPLIED: Kinds[AppliedSwitch] = Kinds("vswitch.kind", AppliedOvsDpdk())


def switch_steps(plan: Plan, host: HostPlan) -> Sequence[Step]:
    """Return the steps of the host's vSwitch; none without one. Raises BadInput."""
    return () if host.vswitch is None else APPLIED[host.vswitch.deployed_kind].steps(plan, host)
