# SPDX-License-Identifier: Apache-2.0
"""PMD off its node's core: the PMD thread polls on another NUMA node than generator and VNFs."""

from __future__ import annotations

from dataclasses import replace

from wirespeed.bench.assembly.kinds import switch_polls
from wirespeed.bench.fault.interface import Kind
from wirespeed.bench.topology.wiring import SWITCH
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Decision, HostPlan
from wirespeed.model.study.spec import Frames


class PmdOffNode(Kind):
    name = "pmd-off-node"
    summary = "the PMD thread polls on a core of another NUMA node than everything else"
    needs = ("numa_nodes >= 2",)

    def places(self, frames: Frames) -> tuple[str, ...]:
        return (SWITCH,) if switch_polls(frames) else ()

    def planned(self, plan: HostPlan, facts: HostFacts, _strength: float, _place: str) -> HostPlan:
        if plan.vswitch is None:
            raise ValueError("the plan has no switch")
        near = facts.node_of(plan.vswitch.pmd_cpus.value[0])
        far = [c.id for c in facts.cpus if c.online and c.allowed and facts.node_of(c.id) != near]
        chosen = Decision(tuple(far[-1:]), "fault.kind = pmd-off-node")
        return replace(plan, vswitch=replace(plan.vswitch, pmd_cpus=chosen))
