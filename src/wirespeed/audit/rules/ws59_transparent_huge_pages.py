# SPDX-License-Identifier: Apache-2.0
"""Find transparent huge pages that every process gets unasked."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity

# Words of the setting with which a process gets such pages only where it asks, or never.
_WANTED = ("madvise", "never")


def check(subject: Subject) -> Outcome:
    kept = subject.facts.housekeeping
    if kept is None or kept.transparent_huge_pages is None:
        return NotApplicable("the kernel has no transparent huge pages")
    word = kept.transparent_huge_pages
    if word in _WANTED:
        return Passed(f"transparent huge pages: {word}")
    return [
        Problem(
            found=f"transparent huge pages: {word}",
            wanted=" or ".join(_WANTED),
            fix=(
                "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
                "# at every boot: transparent_hugepage=madvise on the kernel command line",
            ),
        )
    ]


RULE = Rule(
    id="WS59",
    name="transparent-huge-pages",
    title="Every process gets transparent huge pages",
    severity=Severity.LOW,
    needs=(Need.HOUSEKEEPING, Need.ISOLATED),
    wanted="transparent huge pages madvise or never",
    why="khugepaged moves the pages of any process together while it runs, and page faults wait "
    "for memory to be compacted. DPDK and guests have huge pages of their own.",
    source="Linux, admin-guide/mm/transhuge.rst",
    check=check,
    vendor_advice=True,
)
