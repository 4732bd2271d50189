# SPDX-License-Identifier: Apache-2.0
"""Register how hosts with each type of vSwitch are rendered. See also `plan/host/switches.py`."""

from __future__ import annotations

from typing import Protocol

from wirespeed.model.kinds import Kinds
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.render.interface import Files
from wirespeed.plan.render.ovs import RenderedOvsDpdk


class RenderedSwitch(Protocol):
    """Rendering of one type of vSwitch. name: as written in [vswitch] kind."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def target(self) -> str:
        """Return the target that sets up the vSwitch itself."""
        ...

    @property
    def others(self) -> tuple[str, ...]:
        """Return the other targets that are right for hosts with it."""
        ...

    @property
    def agent(self) -> str:
        """Return the kind of Neutron agent that serves it; empty for none."""
        ...

    def render(self, plan: Plan) -> Files:
        """Return the files of its target, for the hosts that have it."""
        ...


RENDERED: Kinds[RenderedSwitch] = Kinds("vswitch.kind", RenderedOvsDpdk())


def switches_of(plan: Plan) -> tuple[RenderedSwitch, ...]:
    """Return the types of vSwitch of the plan's hosts. Raises BadInput for an unknown one."""
    kinds = dict.fromkeys(h.vswitch.deployed_kind for h in plan.hosts if h.vswitch is not None)
    return tuple(RENDERED[kind] for kind in kinds)
