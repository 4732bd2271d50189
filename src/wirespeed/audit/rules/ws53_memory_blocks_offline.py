# SPDX-License-Identifier: Apache-2.0
"""Find installed memory that the kernel has not brought online."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    problems = [
        Problem(
            found=f"node {node.id} has {(node.online_kib or 0) // 1024} MiB online of "
            f"{(node.installed_kib or 0) // 1024} MiB installed",
            wanted="all of it online",
            fix=(
                f"for state in /sys/devices/system/node/node{node.id}/memory*/state; do "
                'grep -qx online "$state" || echo online > "$state"; done',
                "# at every boot: memhp_default_state=online on the kernel command line",
            ),
            subject=f"node {node.id}",
        )
        for node in subject.facts.nodes
        if node.offline_kib
    ]
    return problems or Passed("every memory block of the host is online")


RULE = Rule(
    id="WS53",
    name="memory-blocks-offline",
    title="Installed memory is offline",
    severity=Severity.MEDIUM,
    needs=(Need.MEMORY_BLOCKS,),
    wanted="every memory block of every node online",
    why="The kernel, huge pages and guests cannot use offline memory: a plan of this host has "
    "fewer guests than its memory holds.",
    source="Linux, admin-guide/mm/memory-hotplug.rst",
    check=check,
)
