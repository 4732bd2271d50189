# SPDX-License-Identifier: Apache-2.0
"""Find PMD CPUs that may enter deep idle states."""

from __future__ import annotations

from wirespeed.audit.cores import pmd_cpus
from wirespeed.audit.fixes import program
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import (
    FactUnusable,
    NotApplicable,
    Outcome,
    Passed,
    Problem,
    Rule,
    Subject,
)
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity

# C1 and C1E wake up within 10 µs; C3 and deeper states take 30 to 200 µs.
DEEP_US = 10


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    reason = facts.why_missing("idle_states")
    if reason:
        raise FactUnusable(reason)
    cpus = [cpu for cpu in facts.cpus if cpu.id in pmd_cpus(facts)]
    if not any(cpu.idle_states for cpu in cpus):
        return NotApplicable("the kernel does not manage idle states of the PMD CPUs (no cpuidle)")
    deep = {
        cpu.id: [s for s in cpu.idle_states if s.exit_latency_us > DEEP_US and not s.disabled]
        for cpu in cpus
    }
    able = [cpu for cpu, states in deep.items() if states]
    if not able:
        return Passed(f"PMD CPUs {format_list(deep)} stay in idle states of {DEEP_US} us or less")
    states = sorted({(s.exit_latency_us, s.name) for cpu in able for s in deep[cpu]})
    return [
        Problem(
            found=f"PMD CPUs {format_list(able)} may enter "
            + ", ".join(f"{name} ({latency} us to wake)" for latency, name in states),
            wanted=f"idle states above {DEEP_US} us disabled on them",
            fix=(
                f"cpupower --cpu {format_list(able)} idle-set --disable-by-latency {DEEP_US}",
                *program(subject.distribution, "cpupower"),
            ),
        )
    ]


RULE = Rule(
    id="WS47",
    name="deep-idle",
    title="PMD CPUs may enter deep idle states",
    severity=Severity.MEDIUM,
    needs=(Need.CPUS, Need.DPDK),
    wanted=f"idle states with more than {DEEP_US} us exit latency disabled on PMD CPUs",
    why="A PMD thread that may sleep (pmd-sleep-max), its sibling or a vCPU next to it takes that "
    "long to wake up, and the turbo frequency changes with the idle states of other cores.",
    source="S0 (turbo on); Open vSwitch, PMD load based sleeping; Linux, cpuidle",
    check=check,
)
