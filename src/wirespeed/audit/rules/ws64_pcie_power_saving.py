# SPDX-License-Identifier: Apache-2.0
"""Find PCIe links that save power."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity

_SAVING = ("powersave", "powersupersave")


def check(subject: Subject) -> Outcome:
    kept = subject.facts.housekeeping
    if kept is None or kept.aspm_policy is None:
        return NotApplicable("the kernel does not manage the power of PCIe links")
    if kept.aspm_policy not in _SAVING:
        return Passed(f"the policy of PCIe links is {kept.aspm_policy}")
    return [
        Problem(
            found=f"the policy of PCIe links is {kept.aspm_policy}",
            wanted="performance",
            fix=(
                "echo performance > /sys/module/pcie_aspm/parameters/policy",
                "# at every boot: pcie_aspm.policy=performance on the kernel command line",
            ),
        )
    ]


RULE = Rule(
    id="WS64",
    name="pcie-power-saving",
    title="PCIe links may sleep",
    severity=Severity.MEDIUM,
    needs=(Need.HOUSEKEEPING, Need.PCI),
    wanted="the policy of PCIe links (ASPM) default or performance",
    why="A link in L1 takes microseconds to wake up for the next frame, which adds to its latency.",
    source="Linux, admin-guide/kernel-parameters.txt (pcie_aspm)",
    check=check,
    vendor_advice=True,
)
