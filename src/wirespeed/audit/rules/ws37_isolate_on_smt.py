# SPDX-License-Identifier: Apache-2.0
"""Find flavors with the CPU thread policy `isolate` on a host with SMT."""

from __future__ import annotations

from wirespeed.audit import fixes
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity

KEY = "hw:cpu_thread_policy"


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    asking = [f for f in facts.flavors or () if f.extra_specs.get(KEY) == "isolate"]
    if not asking:
        return Passed(f"no flavor has {KEY}=isolate")
    if facts.nova and facts.nova.dedicated_cpus is None and facts.nova.vcpu_pin_set is not None:
        return Passed("vcpu_pin_set is in use: Nova then honours isolate on SMT hosts")
    return [
        Problem(
            found=f"flavor {flavor.name} has {KEY}=isolate, this host runs with SMT",
            wanted=f"{KEY}=require, or hosts with SMT switched off for this flavor",
            fix=(
                fixes.flavor("set", flavor.name, f"{KEY}=require"),
                "# or, on the hosts meant for it: nosmt on the kernel command line, and "
                "trait:HW_CPU_HYPERTHREADING=forbidden in the flavor",
            ),
            subject=flavor.name,
        )
        for flavor in asking
    ]


RULE = Rule(
    id="WS37",
    name="isolate-on-smt",
    title="A flavor's thread policy isolate cannot be met on an SMT host",
    severity=Severity.HIGH,
    needs=(Need.SMT, Need.FLAVORS),
    wanted=f"no {KEY}=isolate on hosts with SMT",
    why="Since Nova 20, where placement counts CPUs, isolate requires hosts without SMT: such a "
    "guest never starts here.",
    source="Nova, CPU topologies; S1, CPU pinning",
    check=check,
)
