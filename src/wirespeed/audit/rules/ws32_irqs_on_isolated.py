# SPDX-License-Identifier: Apache-2.0
"""Find interrupts that go to isolated CPUs."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list, format_mask
from wirespeed.model.host.facts import Irq
from wirespeed.model.host.finding import Severity

SHOWN = 5


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    isolated = set(facts.kernel.isolated)
    irqs = facts.irqs or ()
    landing = [irq for irq in irqs if isolated & set(_where(irq))]
    if not landing:
        return Passed(f"none of {len(irqs)} interrupts goes to {format_list(isolated)}")
    host = set(facts.online_cpus) - isolated
    some = ", ".join(
        f"{irq.number} ({irq.actions}) on {format_list(isolated & set(_where(irq)))}"
        for irq in landing[:SHOWN]
    )
    more = f" and {len(landing) - SHOWN} more" if len(landing) > SHOWN else ""
    return [
        Problem(
            found=f"{len(landing)} interrupts may go to isolated CPUs: {some}{more}",
            wanted=f"interrupts on {format_list(host)} only",
            fix=(
                f"# irqbalance: IRQBALANCE_BANNED_CPULIST={format_list(isolated)} in its "
                "environment file; without a restart:",
                f"for i in {' '.join(str(irq.number) for irq in landing)}; do "
                f"echo {format_list(host)} > /proc/irq/$i/smp_affinity_list; done",
                f"echo {format_mask(host).removeprefix('0x')} > /proc/irq/default_smp_affinity",
            ),
        )
    ]


def _where(irq: Irq) -> tuple[int, ...]:
    """Return the CPUs that serve the interrupt, or its affinity when the kernel hides them."""
    return irq.effective or irq.cpus


RULE = Rule(
    id="WS32",
    name="irqs-on-isolated",
    title="Interrupts go to isolated CPUs",
    severity=Severity.MEDIUM,
    needs=(Need.ISOLATED, Need.IRQS),
    wanted="no interrupt's affinity on an isolated CPU",
    why="An interrupt and its softirq stop the polling thread for microseconds to milliseconds; "
    "isolcpus alone does not move interrupts.",
    source="Linux, IRQ affinity; S3 appendix C, IsolCPUs",
    check=check,
)
