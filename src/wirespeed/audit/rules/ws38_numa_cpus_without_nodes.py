# SPDX-License-Identifier: Apache-2.0
"""Find flavors that place vCPUs on guest NUMA nodes without hw:numa_nodes."""

from __future__ import annotations

from wirespeed.audit import fixes
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.host.guest_facts import Flavor

NODES = "hw:numa_nodes"
PLACING = ("hw:numa_cpus.", "hw:numa_mem.")


def check(subject: Subject) -> Outcome:
    placing = [flavor for flavor in subject.facts.flavors or () if _placed(flavor)]
    if not placing:
        return NotApplicable("no flavor has hw:numa_cpus.N or hw:numa_mem.N")
    without = [flavor for flavor in placing if NODES not in flavor.extra_specs]
    if not without:
        return Passed(f"{', '.join(flavor.name for flavor in placing)} also have {NODES}")
    return [
        Problem(
            found=f"flavor {flavor.name} has {', '.join(_placed(flavor))} and no {NODES}",
            wanted=f"{NODES}={_count(flavor)}",
            fix=(fixes.flavor("set", flavor.name, f"{NODES}={_count(flavor)}"),),
            subject=flavor.name,
        )
        for flavor in without
    ]


def _placed(flavor: Flavor) -> list[str]:
    return [key for key in flavor.extra_specs if key.startswith(PLACING)]


def _count(flavor: Flavor) -> int:
    return len({key.rpartition(".")[2] for key in _placed(flavor)})


RULE = Rule(
    id="WS38",
    name="numa-cpus-without-nodes",
    title="A flavor places vCPUs on NUMA nodes without hw:numa_nodes",
    severity=Severity.HIGH,
    needs=(Need.FLAVORS,),
    wanted=f"{NODES} in every flavor with hw:numa_cpus.N or hw:numa_mem.N",
    why=f"Without {NODES} Nova reads neither key: the guest has no topology and its vCPUs and "
    "memory float over all nodes.",
    source="S1, NUMA extensions (its own example floats); Nova, NUMA topologies",
    check=check,
)
