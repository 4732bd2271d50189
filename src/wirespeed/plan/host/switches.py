# SPDX-License-Identifier: Apache-2.0
"""Register how each type of vSwitch of a deployment is planned.

A type has the same name, that of `[vswitch] kind`, here, among what renders its files
(`plan/render/switches.py`) and among what sets up hosts with it (`apply/switches.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.kinds import Kinds
from wirespeed.model.plan.plan import VswitchPlan
from wirespeed.model.plan.workload import Workload
from wirespeed.plan.host.cores import CoreSplit
from wirespeed.plan.host.nics import HostNic
from wirespeed.plan.host.own_keys import OwnTable
from wirespeed.plan.host.vswitch import PlannedOvsDpdk


class PlannedSwitch(Protocol):
    """Planning of one type of vSwitch. name: as written in [vswitch] kind."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def control(self) -> str:
        """Return the name of its program that polls no port, for the reasons of CPUs."""
        ...

    @property
    def own_table(self) -> OwnTable | None:
        """Return the table of keys that it alone has; None without any."""
        ...

    def plan(
        self, facts: HostFacts, workload: Workload, nics: Sequence[HostNic], cores: CoreSplit
    ) -> VswitchPlan:
        """Return memory, queues and descriptors on a host with these polled ports.

        The plan has the type's name as `kind`. The planner adds the type's own keys. Raises
        PlanError.
        """
        ...


PLANNED: Kinds[PlannedSwitch] = Kinds("vswitch.kind", PlannedOvsDpdk())
